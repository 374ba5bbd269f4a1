package main

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// served is a lab serve that runs in this process.
type served struct {
	url, metrics, database string
	stop                   func() (code int, out, errs string)
}

// startServing runs lab serve on the sample, on ports of its own.
func startServing(t *testing.T, change func(config string) string) *served {
	t.Helper()
	before := goleak.IgnoreCurrent()
	text, err := os.ReadFile("testdata/serve.yaml")
	require.NoError(t, err)
	secret, err := filepath.Abs("testdata/public_demo_secret.txt")
	require.NoError(t, err)
	config := strings.NewReplacer("127.0.0.1:8080", "127.0.0.1:0", "127.0.0.1:9090", "127.0.0.1:0",
		"file:public_demo_secret.txt", "file:"+secret).Replace(string(text))
	path := filepath.Join(t.TempDir(), "serve.yaml")
	require.NoError(t, os.WriteFile(path, []byte(change(config)), 0o600))

	ctx, cancel := context.WithCancel(context.Background())
	read, write := io.Pipe()
	var errs guarded
	code := make(chan int, 1)
	go func() {
		code <- serveCommand(ctx, []string{"--config", path, "--disposable"}, write, &errs)
		write.Close()
	}()
	s := &served{}
	var said strings.Builder
	lines := bufio.NewScanner(read)
	for s.metrics == "" && lines.Scan() {
		said.WriteString(lines.Text() + "\n")
		_, _ = fmt.Sscanf(lines.Text(), "listening on %s", &s.url)
		_, _ = fmt.Sscanf(lines.Text(), "metrics on %s", &s.metrics)
		_, _ = fmt.Sscanf(lines.Text(), "database, gone when this ends: %s", &s.database)
	}
	require.NotEmpty(t, s.metrics, "%s%s", said.String(), errs.String())
	s.stop = once(func() (int, string, string) {
		cancel()
		rest, err := io.ReadAll(read)
		require.NoError(t, err)
		http.DefaultClient.CloseIdleConnections()
		return <-code, said.String() + string(rest), errs.String()
	})
	t.Cleanup(func() {
		s.stop()
		goleak.VerifyNone(t, before)
	})
	return s
}

// guarded is a text that several goroutines write.
type guarded struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write is [io.Writer]'s.
func (g *guarded) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.text.Write(p)
}

func (g *guarded) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.text.String()
}

// post delivers a body signed as Standard Webhooks does.
func (s *served) post(t *testing.T, path, id, body string) (int, string) {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString("bm90IGEgc2VjcmV0OiBwdWJsaWMgZGVtbw==")
	require.NoError(t, err)
	now := time.Now().Unix()
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%d.%s", id, now, body)
	request, err := http.NewRequest(http.MethodPost, s.url+path, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Webhook-Id", id)
	request.Header.Set("Webhook-Timestamp", fmt.Sprint(now))
	request.Header.Set("Webhook-Signature",
		"v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return s.do(t, request)
}

func (s *served) do(t *testing.T, request *http.Request) (int, string) {
	t.Helper()
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(text)
}

func (s *served) get(t *testing.T, url string) (int, string) {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, url, nil)
	require.NoError(t, err)
	return s.do(t, request)
}

// The sample runs as it is, receives, tells its metrics and stops cleanly.
func TestServeTheSample(t *testing.T) {
	s := startServing(t, func(config string) string { return config })
	const body = `{"type": "order.changed", "data": {"id": "order_7", "revision": 1, "paid": true}}`
	status, text := s.post(t, "/snapshots", "msg_1", body)
	require.Equal(t, `200 {"outcome":"applied"}`, fmt.Sprint(status, " ", strings.TrimSpace(text)))
	_, text = s.post(t, "/snapshots", "msg_1", body)
	require.Equal(t, `{"outcome":"duplicate"}`, strings.TrimSpace(text))
	status, _ = s.get(t, s.url+"/readyz")
	require.Equal(t, 200, status)
	_, text = s.get(t, s.metrics)
	require.Contains(t, text, `webhook_deliveries_total{counted_as="new",outcome="applied",`+
		`route="/snapshots"} 1`)
	require.Contains(t, text, "go_goroutines")

	code, out, errs := s.stop()
	require.Zero(t, code, errs)
	require.Contains(t, out, `POST /snapshots: snapshots, source "demo/shop"`)
	require.Contains(t, out, "stopping")
	require.Contains(t, errs, `"event_id":"msg_1","counted_as":"new","outcome":"applied",`+
		`"type":"order.changed"`)
	require.NotContains(t, errs, "order_7")
	require.NotContains(t, out+errs, "bm90IGEgc2VjcmV0")
}

// A header beyond its bound is refused by net/http itself, before any route.
func TestServeBoundsHeadersAndConnections(t *testing.T) {
	s := startServing(t, func(config string) string { return "connections: 1\n" + config })
	request, err := http.NewRequest(http.MethodPost, s.url+"/snapshots", nil)
	require.NoError(t, err)
	request.Header.Set("X-Large", strings.Repeat("x", 64<<10))
	status, _ := s.do(t, request)
	require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, status)

	http.DefaultClient.CloseIdleConnections()
	first, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	require.NoError(t, err)
	answered := make(chan int, 1)
	go func() {
		response, err := http.Get(s.url + "/healthz")
		if err == nil {
			response.Body.Close()
			answered <- response.StatusCode
		}
		close(answered)
	}()
	require.NoError(t, first.Close())
	require.Equal(t, 200, <-answered, "it waits for a place and gets it")
}

// Told to stop while a delivery waits in the database, it lets that one end and answers it.
func TestServeStopsAfterWhatIsUnderWay(t *testing.T) {
	s := startServing(t, func(config string) string { return config })
	_, _ = s.post(t, "/snapshots", "msg_1", `{"data": {"id": "o", "revision": 1}}`)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.database)
	require.NoError(t, err)
	defer conn.Close(ctx)
	tx, err := conn.Begin(ctx)
	require.NoError(t, err)
	_, err = tx.Exec(ctx, `SELECT FROM object_state FOR UPDATE`)
	require.NoError(t, err)
	answer := make(chan string, 1)
	go func() {
		_, text := s.post(t, "/snapshots", "msg_2", `{"data": {"id": "o", "revision": 2}}`)
		answer <- text
	}()
	for waits := false; !waits; {
		require.NoError(t, tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_stat_activity
			WHERE cardinality(pg_blocking_pids(pid)) > 0)`).Scan(&waits))
	}
	stopped := make(chan int, 1)
	go func() {
		code, _, _ := s.stop()
		stopped <- code
	}()
	// The lock is free before the answer is sent, and with it the server may already be gone.
	_ = tx.Rollback(ctx)
	_ = conn.Close(ctx)
	<-conn.PgConn().CleanupDone()
	require.Equal(t, "{\"outcome\":\"applied\"}\n", <-answer)
	require.Zero(t, <-stopped)
}

// once makes a function that works the first time it is called, and gives the same ever after.
func once(f func() (int, string, string)) func() (int, string, string) {
	type values struct {
		code      int
		out, errs string
	}
	get := sync.OnceValue(func() values {
		code, out, errs := f()
		return values{code, out, errs}
	})
	return func() (int, string, string) { v := get(); return v.code, v.out, v.errs }
}

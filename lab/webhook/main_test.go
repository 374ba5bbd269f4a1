package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"webhooklab"
	"webhooklab/lab/inbox"
	"webhooklab/lab/postgres"
	"webhooklab/lab/webhook"
)

// template is the schema that every test clones, on the server that this test binary started.
var (
	server   *postgres.Server
	template *postgres.Template
)

func TestMain(m *testing.M) { os.Exit(runOnServer(m)) }

func runOnServer(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var err error
	if server, err = postgres.Start(ctx, postgres.Config{Mode: mode()}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	defer func() {
		if err := server.Stop(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	if template, err = server.Template(ctx, webhooklab.Schema); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return m.Run()
}

// secret signs whatever the tests send.
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// door is one test's own database and a real HTTP server in front of it.
type door struct {
	dsn     string
	pool    *pgxpool.Pool
	db      inbox.DB
	logs    *lines
	metrics *prometheus.Registry
	http    *httptest.Server
	client  *http.Client
}

// building is what a test may change before its door opens.
type building struct {
	routes  []webhook.Route
	options webhook.Options
	pool    int32
	wait    time.Duration
}

// newDoor opens the address /snapshots of source "shop", and whatever configure adds.
func newDoor(t testing.TB, configure ...func(d *door, b *building)) *door {
	t.Helper()
	noLeaks(t)
	clone, err := template.Clone(bounded(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, clone.Drop(bounded(t))) })
	d := &door{dsn: clone.DSN(), logs: &lines{}, metrics: prometheus.NewRegistry()}
	b := &building{pool: 4, wait: 30 * time.Second}
	for _, f := range configure {
		f(nil, b)
	}
	d.pool = d.newPool(t, b.pool)
	d.db = webhook.Acquire(d.pool, b.wait)
	b.options.DB, b.options.Log, b.options.Metrics = d.db, d.logs.logger(), d.metrics
	b.routes = []webhook.Route{d.route("/snapshots", webhook.SnapshotBody,
		webhook.Snapshots(d.db, inbox.Options{}))}
	for _, f := range configure {
		f(d, b)
	}
	handler, err := webhook.NewHandler(b.routes, b.options)
	require.NoError(t, err)
	d.open(t, handler)
	return d
}

// open starts a server on a real socket.
func (d *door) open(t testing.TB, handler http.Handler) {
	d.http = httptest.NewServer(handler)
	d.client = &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 100},
		Timeout:   time.Minute,
	}
	t.Cleanup(func() {
		d.client.CloseIdleConnections()
		d.http.Close()
	})
}

func (d *door) newPool(t testing.TB, size int32) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(d.dsn)
	require.NoError(t, err)
	config.MaxConns = size
	pool, err := pgxpool.NewWithConfig(bounded(t), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// route is one of source "shop", signed as Postscale does.
func (d *door) route(path string, m webhook.Mapping, r webhook.Receiver) webhook.Route {
	verifier, err := webhook.NewPostscale(secret)
	if err != nil {
		panic(err)
	}
	return webhook.Route{
		Path: path, Source: "shop", Verifier: verifier, Mapping: m, Receiver: r,
	}
}

// reply is what a sender learned.
type reply struct {
	Status     int
	Header     http.Header
	Text       string
	Outcome    string
	Code       string
	Retry      bool
	Items      []map[string]any
	MediaTypes string
}

// send delivers a signed body.
func (d *door) send(t testing.TB, path, body string, header ...string) reply {
	t.Helper()
	r, err := d.try(t, signed(t, d.http.URL+path, []byte(body), header...))
	require.NoError(t, err)
	return r
}

// try makes a request and reads its whole answer.
func (d *door) try(t testing.TB, request *http.Request) (reply, error) {
	t.Helper()
	response, err := d.client.Do(request)
	if err != nil {
		return reply{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return reply{}, err
	}
	r := reply{Status: response.StatusCode, Header: response.Header, Text: string(text)}
	if json.Valid(text) {
		require.NoError(t, json.Unmarshal(text, &r))
	}
	return r, nil
}

// signed is a request with a signature of now; header are names and values in turn.
func signed(t testing.TB, url string, body []byte, header ...string) *http.Request {
	t.Helper()
	request, err := http.NewRequestWithContext(bounded(t), http.MethodPost, url,
		bytes.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Postscale-Signature", signature(secret, time.Now(), body))
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	return request
}

// snapshot is a body of the source's own format.
func snapshot(event, object string, revision int, state string) string {
	return fmt.Sprintf(`{"event_id": %q, "object_id": %q, "revision": %d, "snapshot": %s}`,
		event, object, revision, state)
}

// number asks for one integer.
func (d *door) number(t testing.TB, sql string, arguments ...any) int {
	t.Helper()
	var n int
	require.NoError(t, d.pool.QueryRow(bounded(t), sql, arguments...).Scan(&n))
	return n
}

func (d *door) text(t testing.TB, sql string, arguments ...any) string {
	t.Helper()
	var text string
	require.NoError(t, d.pool.QueryRow(bounded(t), sql, arguments...).Scan(&text))
	return text
}

func (d *door) exec(t testing.TB, sql string, arguments ...any) {
	t.Helper()
	_, err := d.pool.Exec(bounded(t), sql, arguments...)
	require.NoError(t, err)
}

// bounded is a context that ends with the test, or after a minute.
func bounded(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// noLeaks is called first, so that it checks last: after servers and pools have closed.
func noLeaks(t testing.TB) {
	before := goleak.IgnoreCurrent()
	// A restarted server is waited for until the last test has ended.
	waiting := goleak.IgnoreAnyFunction("webhooklab/lab/postgres.launch.func1")
	t.Cleanup(func() { goleak.VerifyNone(t, before, waiting) })
}

// mode asks for a server of this package's own, also inside the gate: one of its tests kills it.
func mode() string {
	if m := os.Getenv("LAB_POSTGRES"); m != "" {
		return m
	}
	return "auto"
}

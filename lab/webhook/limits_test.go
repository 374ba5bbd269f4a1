package webhook_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
	"webhooklab/lab/webhook"
)

func TestRequestsThatNoRetryHelps(t *testing.T) {
	d := newDoor(t)
	for _, c := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"POST", "/", 404, ""},
		{"POST", "/snapshots/", 404, ""},
		{"POST", "//snapshots", 404, ""},
		{"POST", "/Snapshots", 404, ""},
		{"GET", "/snapshots", 405, "POST"},
		{"HEAD", "/snapshots", 405, "POST"},
		{"OPTIONS", "/snapshots", 405, "POST"},
		{"POST", "/healthz", 405, "GET, HEAD"},
		{"GET", "/healthz", 200, ""},
		{"GET", "/readyz", 200, ""},
	} {
		request, err := http.NewRequestWithContext(bounded(t), c.method, d.http.URL+c.path,
			strings.NewReader("x"))
		require.NoError(t, err)
		r, err := d.try(t, request)
		require.NoError(t, err)
		require.Equal(t, c.status, r.Status, c)
		require.Equal(t, c.allow, r.Header.Get("Allow"), c)
		if c.status != 200 && c.method != "HEAD" {
			require.Contains(t, r.Text, `"retry":false`, c)
			require.Equal(t, "application/problem+json", r.Header.Get("Content-Type"), c)
		}
	}
}

// A body of exactly the limit is read; one byte more is not, announced or chunked.
func TestBodiesAreBounded(t *testing.T) {
	const limit = 2000
	d := newDoor(t, func(_ *door, b *building) { b.options.Limits.BodyBytes = limit })
	body := snapshot("e", "o", 1, `{}`)
	fits := body + strings.Repeat(" ", limit-len(body))
	require.Equal(t, "applied", d.send(t, "/snapshots", fits).Outcome)

	require.Equal(t, 413, d.send(t, "/snapshots", fits+" ").Status)

	chunked := signed(t, d.http.URL+"/snapshots", []byte(fits))
	chunked.Body, chunked.ContentLength = io.NopCloser(strings.NewReader(fits+" ")), -1
	r, err := d.try(t, chunked)
	require.NoError(t, err)
	require.Equal(t, 413, r.Status)
	require.Equal(t, "body_too_large", r.Code)

	chunked = signed(t, d.http.URL+"/snapshots", []byte(fits))
	chunked.Body, chunked.ContentLength = io.NopCloser(strings.NewReader(fits)), -1
	r, err = d.try(t, chunked)
	require.NoError(t, err)
	require.Equal(t, "duplicate", r.Outcome)
}

// endless is a chunked body that counts what was taken of it.
type endless struct{ taken atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.taken.Add(int64(len(p)))
	return len(p), nil
}

func TestAnEndlessBodyIsCutOff(t *testing.T) {
	d := newDoor(t, func(_ *door, b *building) { b.options.Limits.BodyBytes = 1 << 16 })
	body := &endless{}
	request := signed(t, d.http.URL+"/snapshots", nil)
	request.Body, request.ContentLength = io.NopCloser(body), -1
	r, err := d.try(t, request)
	if err == nil {
		require.Equal(t, 413, r.Status)
	} // else the server hung up while we wrote
	require.Less(t, body.taken.Load(), int64(64<<20))
}

// A sender that stops in the middle is told so, and its connection ends.
func TestASlowSenderIsTold(t *testing.T) {
	for _, framing := range []string{"Content-Length: 100\r\n", "Transfer-Encoding: chunked\r\n"} {
		d := newDoor(t, func(_ *door, b *building) {
			b.options.Limits.ReadTimeout = 50 * time.Millisecond
		})
		conn := d.dial(t)
		fmt.Fprintf(conn, "POST /snapshots HTTP/1.1\r\nHost: x\r\n%s\r\n1\r\n{", framing)
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err, "and then the connection ends")
		require.Equal(t, 408, response.StatusCode, framing)
		require.Contains(t, string(text), `"code":"body_too_slow"`)
		require.NoError(t, response.Body.Close())
	}
}

// dial opens a bare connection to the door.
func (d *door) dial(t testing.TB) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", d.http.Listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	return conn
}

// Signed or not, what isn't JSON as it stands ends in one answer, which is written down.
func TestMediaTypes(t *testing.T) {
	d := newDoor(t)
	for i, c := range []struct {
		header, value string
		status        int
	}{
		{"Content-Type", "application/json; charset=UTF-8", 200},
		{"Content-Type", "application/vnd.acme.event+json", 200},
		{"Content-Type", "", 200},
		{"Content-Encoding", "identity", 200},
		{"Content-Encoding", "gzip", 415},
		{"Content-Encoding", "br, gzip", 415},
		{"Content-Type", "application/x-www-form-urlencoded", 415},
		{"Content-Type", "text/plain", 415},
		{"Content-Type", "application/json; charset=latin1", 415},
		{"Content-Type", "application/json; charset=", 415},
	} {
		r := d.send(t, "/snapshots", snapshot(fmt.Sprint("e", i), "o", i+1, `{}`),
			c.header, c.value)
		require.Equal(t, c.status, r.Status, c)
	}
	require.Equal(t, 6, d.number(t, `SELECT count(*) FROM webhook_delivery
		WHERE counted_as = 'invalid' AND answer IN ('media_type', 'content_encoding')`))
}

// Refusals leave the connection usable: a sender needs no new one for its next delivery.
func TestConnectionsOutliveRefusals(t *testing.T) {
	d := newDoor(t)
	large := bytes.Repeat([]byte(" "), 100_000)
	var fresh int
	send := func(path string, body []byte, header ...string) {
		request := signed(t, d.http.URL+path, body, header...)
		trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
			if !info.Reused {
				fresh++
			}
		}}
		_, err := d.try(t, request.WithContext(httptrace.WithClientTrace(bounded(t), trace)))
		require.NoError(t, err)
	}
	send("/snapshots", []byte(snapshot("e", "o", 1, `{}`)))
	send("/nowhere", large)
	send("/snapshots", large, "X-Postscale-Signature", "none")
	send("/snapshots", large)
	send("/snapshots", []byte(snapshot("e", "o", 1, `{}`)), "Content-Type", "text/plain")
	send("/snapshots", []byte(snapshot("e", "o", 2, `{}`)))
	require.Equal(t, 1, fresh)
}

// What is missing at start-up is said at start-up.
func TestRoutesAreChecked(t *testing.T) {
	d := newDoor(t)
	good := d.route("/a", webhook.SnapshotBody, webhook.Snapshots(d.db, inbox.Options{}))
	for say, break_ := range map[string]func(*webhook.Route){
		"slash":       func(r *webhook.Route) { r.Path = "a" },
		"own":         func(r *webhook.Route) { r.Path = "/healthz" },
		"source":      func(r *webhook.Route) { r.Source = "" },
		"255":         func(r *webhook.Route) { r.Source = strings.Repeat("s", 256) },
		"without NUL": func(r *webhook.Route) { r.Source = "s\x00" },
		"verifier":    func(r *webhook.Route) { r.Verifier = nil },
		"mapping":     func(r *webhook.Route) { r.Mapping = nil },
		"receiver":    func(r *webhook.Route) { r.Receiver = nil },
	} {
		bad := good
		break_(&bad)
		_, err := webhook.NewHandler([]webhook.Route{bad}, webhook.Options{DB: d.db})
		require.ErrorContains(t, err, say)
		require.ErrorContains(t, err, bad.Path)
	}
	_, err := webhook.NewHandler([]webhook.Route{good, good}, webhook.Options{DB: d.db})
	require.ErrorContains(t, err, "two routes")
	_, err = webhook.NewHandler(nil, webhook.Options{})
	require.ErrorContains(t, err, "DB is nil")
	_, err = webhook.NewHandler(nil, webhook.Options{DB: d.db, Metrics: d.metrics})
	require.ErrorContains(t, err, "registry of its own")
}

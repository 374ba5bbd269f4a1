package webhook_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
	"webhooklab/lab/webhook"
)

// write sends a whole signed request over a bare connection.
func write(t testing.TB, w io.Writer, body string) {
	t.Helper()
	_, err := fmt.Fprintf(w, "POST /snapshots HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n"+
		"X-Postscale-Signature: %s\r\n\r\n%s",
		len(body), signature(secret, time.Now(), []byte(body)), body)
	require.NoError(t, err)
}

// holdObject stands in the way of every change of object o, until the function it gives is called.
func (d *door) holdObject(t testing.TB) (release func()) {
	t.Helper()
	outsider, err := pgx.Connect(bounded(t), d.dsn)
	require.NoError(t, err)
	tx, err := outsider.Begin(bounded(t))
	require.NoError(t, err)
	_, err = tx.Exec(bounded(t), `SELECT FROM object_state WHERE object_id = 'o' FOR UPDATE`)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = outsider.Close(context.Background())
		<-outsider.PgConn().CleanupDone()
	})
	return func() { require.NoError(t, tx.Rollback(bounded(t))) }
}

const isWaited = `SELECT EXISTS (
	SELECT FROM pg_stat_activity
	WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0)`

// A sender that leaves once its body has arrived loses nothing: the work goes on to its end.
func TestSenderLeavesWhileTheWorkGoesOn(t *testing.T) {
	d := newDoor(t)
	require.Equal(t, "applied", d.send(t, "/snapshots", snapshot("e1", "o", 1, `{}`)).Outcome)
	release := d.holdObject(t)

	conn := d.dial(t)
	write(t, conn, snapshot("e2", "o", 2, `{}`))
	d.waitUntil(t, isWaited)
	require.NoError(t, conn.Close())
	release()

	d.waitUntil(t, `SELECT EXISTS (SELECT FROM object_state WHERE revision = 2)`)
	require.Equal(t, "duplicate", d.send(t, "/snapshots", snapshot("e2", "o", 2, `{}`)).Outcome)
}

// A sender that leaves before its body has arrived leaves nothing.
func TestSenderLeavesInTheMiddle(t *testing.T) {
	d := newDoor(t)
	conn := d.dial(t)
	body := snapshot("e", "o", 1, `{}`)
	_, err := fmt.Fprintf(conn, "POST /snapshots HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n"+
		"X-Postscale-Signature: %s\r\n\r\n%s",
		len(body), signature(secret, time.Now(), []byte(body)), body[:20])
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	require.Equal(t, "applied", d.send(t, "/snapshots", body).Outcome)
	require.Equal(t, 1, d.number(t, `SELECT count(*) FROM webhook_delivery`))
}

// A server that is told to stop finishes what it has begun, and answers it.
func TestShutdownFinishesWhatIsUnderWay(t *testing.T) {
	d := newDoor(t)
	require.Equal(t, "applied", d.send(t, "/snapshots", snapshot("e1", "o", 1, `{}`)).Outcome)
	release := d.holdObject(t)
	conn := d.dial(t)
	write(t, conn, snapshot("e2", "o", 2, `{}`))
	d.waitUntil(t, isWaited)

	stopped := make(chan error, 1)
	go func() { stopped <- d.http.Config.Shutdown(context.Background()) }()
	release()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, `{"outcome":"applied"}`+"\n", string(text))
	require.NoError(t, <-stopped)
}

// A wait for somebody else's transaction is bounded: the sender is told to come again.
func TestWorkIsBounded(t *testing.T) {
	d := newDoor(t)
	require.Equal(t, "applied", d.send(t, "/snapshots", snapshot("e1", "o", 1, `{}`)).Outcome)
	release := d.holdObject(t)
	hasty, err := webhook.NewHandler([]webhook.Route{
		d.route("/snapshots", webhook.SnapshotBody, webhook.Snapshots(d.db, inbox.Options{})),
	}, webhook.Options{DB: d.db, Limits: webhook.Limits{
		WorkTimeout: 100 * time.Millisecond, RetryAfter: 1500 * time.Millisecond,
	}})
	require.NoError(t, err)
	answer := httptest.NewRecorder()
	hasty.ServeHTTP(answer,
		signed(t, "http://x/snapshots", []byte(snapshot("e2", "o", 2, `{}`))))
	require.Equal(t, http.StatusServiceUnavailable, answer.Code)
	require.Equal(t, "2", answer.Header().Get("Retry-After"), "whole seconds, not too soon")
	require.Equal(t, 1, d.number(t, `SELECT count(*) FROM webhook_inbox`))
	release()
	require.Equal(t, "applied", d.send(t, "/snapshots", snapshot("e2", "o", 2, `{}`)).Outcome)
}

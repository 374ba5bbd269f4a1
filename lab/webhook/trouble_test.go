package webhook_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
	"webhooklab/lab/postgres"
	"webhooklab/lab/webhook"
)

// Fifty copies at one barrier over a pool of ten: one change, and every sender is content.
func TestFiftyCopiesAtOnce(t *testing.T) {
	d := newDoor(t, func(_ *door, b *building) { b.pool, b.wait = 10, 30*time.Second })
	for round := range 3 {
		body := snapshot(fmt.Sprint("e", round), "order", round+1, `{"v": 1}`)
		replies := make([]reply, 50)
		requests := make([]*http.Request, len(replies))
		for i := range requests {
			requests[i] = signed(t, d.http.URL+"/snapshots", []byte(body))
		}
		errs := make([]error, len(replies))
		barrier := make(chan struct{})
		var all sync.WaitGroup
		for i := range replies {
			all.Go(func() {
				<-barrier
				replies[i], errs[i] = d.try(t, requests[i])
			})
		}
		close(barrier)
		all.Wait()
		outcomes := map[string]int{}
		for i, r := range replies {
			require.NoError(t, errs[i])
			require.Equal(t, http.StatusOK, r.Status, r.Text)
			outcomes[r.Outcome]++
		}
		require.Equal(t, map[string]int{"applied": 1, "duplicate": 49}, outcomes)
	}
	require.Equal(t, 3, d.number(t, `SELECT revision FROM object_state`))
	require.Equal(t, 150, d.number(t, `SELECT count(*) FROM webhook_delivery`))
}

// With every connection held by somebody else, the answer is "later", and soon.
func TestExhaustedPoolIsAnsweredFast(t *testing.T) {
	d := newDoor(t, func(_ *door, b *building) { b.pool, b.wait = 2, 30*time.Millisecond })
	held := []*pgxpool.Conn{}
	for range 2 {
		conn, err := d.pool.Acquire(bounded(t))
		require.NoError(t, err)
		held = append(held, conn)
	}
	body := snapshot("e", "o", 1, `{}`)
	began := time.Now()
	r := d.send(t, "/snapshots", body)
	require.Less(t, time.Since(began), 5*time.Second)
	require.Equal(t, http.StatusServiceUnavailable, r.Status)
	require.True(t, r.Retry)
	require.Equal(t, "30", r.Header.Get("Retry-After"))
	require.Equal(t, 503, d.send(t, "/snapshots", "{").Status, "no refusal without a row")
	require.Equal(t, 503, d.send(t, "/snapshots", snapshot("bad", "o", 1, `[]`)).Status,
		"the receiver's own refusals neither")
	require.Equal(t, 503, d.get(t, "/readyz").Status)
	require.Equal(t, 200, d.get(t, "/healthz").Status)
	for _, conn := range held {
		conn.Release()
	}
	require.Equal(t, 200, d.get(t, "/readyz").Status)
	require.Equal(t, "applied", d.send(t, "/snapshots", body).Outcome)
	require.Equal(t, 400, d.send(t, "/snapshots", "{").Status)
}

func (d *door) get(t testing.TB, path string) reply {
	t.Helper()
	request, err := http.NewRequestWithContext(bounded(t), http.MethodGet, d.http.URL+path, nil)
	require.NoError(t, err)
	r, err := d.try(t, request)
	require.NoError(t, err)
	return r
}

// While the database is down nothing is acknowledged; after it, everything is received again.
func TestDatabaseDownThenUp(t *testing.T) {
	if err := server.Can(postgres.Crash); err != nil {
		t.Skip(err)
	}
	d := newDoor(t)
	require.Equal(t, "applied", d.send(t, "/snapshots", snapshot("e1", "o", 1, `{}`)).Outcome)
	require.NoError(t, server.Kill(bounded(t)))
	func() {
		defer func() { require.NoError(t, server.Restart(bounded(t))) }()
		r := d.send(t, "/snapshots", snapshot("e2", "o", 2, `{}`))
		require.Equal(t, http.StatusServiceUnavailable, r.Status)
		require.Equal(t, 503, d.send(t, "/snapshots", "{").Status)
		require.Equal(t, 503, d.get(t, "/readyz").Status)
		require.Equal(t, 401, d.send(t, "/snapshots", "{", "X-Postscale-Signature", "").Status)
	}()
	require.Equal(t, "applied", d.sendUntilAcked(t, snapshot("e2", "o", 2, `{}`)).Outcome)
	require.Equal(t, "duplicate", d.send(t, "/snapshots", snapshot("e1", "o", 1, `{}`)).Outcome)
	require.Equal(t, 2, d.number(t, `SELECT count(*) FROM webhook_inbox`))
}

// sendUntilAcked is a sender that goes on: a pool finds out by failing that its connections died.
func (d *door) sendUntilAcked(t testing.TB, body string) reply {
	for range 20 {
		if r := d.send(t, "/snapshots", body); r.Status != http.StatusServiceUnavailable {
			return r
		}
	}
	require.FailNow(t, "never acknowledged")
	return reply{}
}

// A serialization failure is retried inside: the sender learns of the outcome only.
func TestSerializationFailureIsRetriedInside(t *testing.T) {
	d := newDoor(t)
	d.exec(t, `
		CREATE SEQUENCE tries;
		CREATE FUNCTION fail_twice() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			IF nextval('tries') < 3 THEN
				RAISE EXCEPTION 'once more' USING ERRCODE = 'serialization_failure';
			END IF;
			RETURN NEW;
		END $$;
		CREATE TRIGGER fail_twice BEFORE INSERT ON object_state
			FOR EACH ROW EXECUTE FUNCTION fail_twice()`)
	require.Equal(t, "applied", d.send(t, "/snapshots", snapshot("e", "o", 1, `{}`)).Outcome)
}

// An outside writer takes the rows in the opposite order: one side is retried, nothing is lost.
func TestDeadlockIsRetriedInside(t *testing.T) {
	d := newDoor(t, func(_ *door, b *building) { b.pool = 6 })
	require.Equal(t, "applied", d.send(t, "/snapshots", snapshot("e1", "o", 1, `{}`)).Outcome)
	outsider, err := pgx.Connect(bounded(t), d.dsn)
	require.NoError(t, err)
	defer func() {
		_ = outsider.Close(context.Background())
		<-outsider.PgConn().CleanupDone()
	}()
	exec := func(sql string) error {
		_, err := outsider.Exec(bounded(t), sql)
		return err
	}
	require.NoError(t, exec(`BEGIN`))
	require.NoError(t, exec(`SELECT FROM object_state WHERE object_id = 'o' FOR UPDATE`))
	answered := make(chan reply, 1)
	request := signed(t, d.http.URL+"/snapshots", []byte(snapshot("e2", "o", 2, `{}`)))
	go func() {
		r, _ := d.try(t, request)
		answered <- r
	}()
	for waits := false; !waits; {
		select {
		case r := <-answered:
			require.Failf(t, "answered without waiting for the outsider", "%+v", r)
		default:
		}
		require.NoError(t, d.pool.QueryRow(bounded(t), `
			SELECT EXISTS (SELECT FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid)))`,
			outsider.PgConn().PID()).Scan(&waits))
	}
	// Whichever of the two the server gives up, the delivery comes through.
	_ = exec(`INSERT INTO webhook_inbox (source, event_id, object_id, revision, snapshot)
		VALUES ('shop', 'e2', 'other', 1, '{}')`)
	_ = exec(`ROLLBACK`)
	require.Equal(t, "applied", (<-answered).Outcome)
	require.Equal(t, 2, d.number(t, `SELECT revision FROM object_state`))
}

// waitUntil asks until the query gives true. It fails when the test's bound is reached.
func (d *door) waitUntil(t testing.TB, sql string, arguments ...any) {
	t.Helper()
	ctx := bounded(t)
	for holds := false; !holds; {
		require.NoError(t, d.pool.QueryRow(ctx, sql, arguments...).Scan(&holds))
	}
}

// A panic is a failure like any other to the sender, and says nothing of the event to the log.
func TestPanicIsUnavailable(t *testing.T) {
	d := newDoor(t, func(d *door, b *building) {
		if d == nil {
			return
		}
		b.routes = append(b.routes,
			d.route("/receiver", webhook.SnapshotBody, panics{}),
			d.route("/mapping", func(_ http.Header, body []byte) (webhook.Event, error) {
				panic(string(body))
			}, panics{}))
		verifier := d.route("/verifier", webhook.SnapshotBody, panics{})
		verifier.Verifier = panics{}
		b.routes = append(b.routes, verifier)
	})
	for _, path := range []string{"/receiver", "/mapping", "/verifier"} {
		r := d.send(t, path, snapshot("e", "o", 1, `{"v": "payload"}`))
		require.Equal(t, http.StatusServiceUnavailable, r.Status, path)
		require.Equal(t, "unavailable", r.Code)
	}
	require.Equal(t, 3, strings.Count(d.logs.String(), "a panic was turned into 503"))
	require.NotContains(t, d.logs.String(), "payload")
	require.Contains(t, d.logs.String(), "panics.Receive")
}

type panics struct{}

func (panics) Receive(_ context.Context, e webhook.Event) (inbox.Outcome, error) {
	panic(string(e.Snapshot))
}

func (panics) Verify(_ http.Header, body []byte, _ time.Time) error { panic(string(body)) }

// saying is a receiver whose errors quote the event.
type saying struct{}

func (saying) Receive(_ context.Context, e webhook.Event) (inbox.Outcome, error) {
	return "", fmt.Errorf("could not book %s", e.Snapshot)
}

// An error of somebody else's receiver is "later" to the sender, and its text is not for logs.
func TestAForeignErrorIsNotQuoted(t *testing.T) {
	d := newDoor(t, func(d *door, b *building) {
		if d != nil {
			b.routes = append(b.routes, d.route("/own", webhook.SnapshotBody, saying{}))
		}
	})
	r := d.send(t, "/own", snapshot("e", "o", 1, `{"v": "payload"}`))
	require.Equal(t, http.StatusServiceUnavailable, r.Status)
	require.Contains(t, d.logs.last(), "an error of type")
	require.NotContains(t, d.logs.String()+r.Text, "payload")
}

// slow takes longer than a sender may take to send.
type slow struct{}

func (slow) Receive(context.Context, webhook.Event) (inbox.Outcome, error) {
	<-time.After(100 * time.Millisecond)
	return inbox.Applied, nil
}

// The bound on reading ends with the body: work that outlasts it doesn't spoil the connection.
func TestWorkMayOutlastReading(t *testing.T) {
	d := newDoor(t, func(d *door, b *building) {
		b.options.Limits.ReadTimeout = 50 * time.Millisecond
		if d != nil {
			b.routes = append(b.routes, d.route("/slow", webhook.SnapshotBody, slow{}))
		}
	})
	conn := d.dial(t)
	answers := bufio.NewReader(conn)
	body := snapshot("e", "o", 1, `{}`)
	for range 2 {
		require.NoError(t, signed(t, d.http.URL+"/slow", []byte(body)).Write(conn))
		require.Contains(t, readAnswer(t, answers), "applied")
		_, err := fmt.Fprint(conn, "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n")
		require.NoError(t, err)
		require.Contains(t, readAnswer(t, answers), "ok")
	}
}

func readAnswer(t testing.TB, from *bufio.Reader) string {
	t.Helper()
	response, err := http.ReadResponse(from, nil)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(text)
}

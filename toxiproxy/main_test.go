package toxiproxy_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"webhooklab/lab/postgres"
	"webhooklab/toxiproxy"
)

const schema = `
CREATE TABLE entry (id bigint PRIMARY KEY, body text);
CREATE TABLE other (id bigint PRIMARY KEY);
`

// patience bounds every wait of these tests; none should come near it.
const patience = 30 * time.Second

// server is started by the first test that needs it. Its one database is emptied before each.
var server struct {
	once     sync.Once
	running  *postgres.Server
	database *postgres.Database
	err      error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if server.running != nil {
		if err := server.running.Stop(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 2)
		}
	}
	os.Exit(code)
}

func database(t testing.TB) *postgres.Database {
	t.Helper()
	server.once.Do(func() { server.err = startServer(bounded(t)) })
	require.NoError(t, server.err)
	return server.database
}

func startServer(ctx context.Context) (err error) {
	if server.running, err = postgres.Start(ctx, postgres.Config{}); err != nil {
		return err
	}
	template, err := server.running.Template(ctx, schema)
	if err != nil {
		return err
	}
	server.database, err = template.Clone(ctx)
	return err
}

// rig is one test's database, the wire to it, what the wire told, and a direct observer.
type rig struct {
	testing.TB
	*toxiproxy.Proxy
	*recorder
	dsn      string // direct
	observer *pgx.Conn
}

// newRig opens a wire with the stock toxics. When the test ends it must leave no goroutine.
func newRig(t testing.TB, stock ...toxiproxy.Toxic) *rig {
	t.Helper()
	dsn := database(t).DSN()
	noLeaks(t)
	r := &rig{TB: t, recorder: newRecorder(t), dsn: dsn, observer: connect(t, dsn)}
	_, err := r.observer.Exec(bounded(t), "TRUNCATE entry, other")
	require.NoError(t, err)
	r.Proxy, err = toxiproxy.Open(toxiproxy.Config{
		Name:     t.Name(),
		Upstream: host(t, r.dsn),
		Notify:   r.record,
		Toxics:   stock,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

// noLeaks demands that all goroutines that the test starts from here on end with it.
func noLeaks(t testing.TB) {
	ignore := goleak.IgnoreCurrent()
	t.Cleanup(func() { require.NoError(t, goleak.Find(ignore)) })
}

// bounded is a context for one test, ended with it.
func bounded(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func host(t testing.TB, dsn string) string {
	u, err := url.Parse(dsn)
	require.NoError(t, err)
	return u.Host
}

// over is the DSN that leads through the wire.
func (r *rig) over() string { return through(r, r.dsn, r.Proxy) }

func through(t testing.TB, dsn string, p *toxiproxy.Proxy) string {
	u, err := url.Parse(dsn)
	require.NoError(t, err)
	u.Host = p.Addr()
	return u.String()
}

// client connects through the wire.
func (r *rig) client() *pgx.Conn { r.Helper(); return connect(r, r.over()) }

func connect(t testing.TB, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(bounded(t), dsn)
	require.NoError(t, err)
	t.Cleanup(func() { hangUp(t, conn) })
	return conn
}

// hangUp closes a client, which may be dead already, and waits for its goroutines.
func hangUp(t testing.TB, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx)
	select {
	case <-conn.PgConn().CleanupDone():
	case <-time.After(patience):
		t.Error("the client never ended")
	}
}

// ids are the rows of entry, seen by the observer.
func (r *rig) ids() []int64 {
	r.Helper()
	rows, err := r.observer.Query(bounded(r), "SELECT id FROM entry ORDER BY id")
	require.NoError(r, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	require.NoError(r, err)
	return ids
}

// gone waits until the backend has left the server.
func (r *rig) gone(pid uint32) {
	r.Helper()
	ctx := bounded(r)
	for {
		var here bool
		err := r.observer.QueryRow(ctx,
			"SELECT count(*) > 0 FROM pg_stat_activity WHERE pid = $1", int32(pid)).Scan(&here)
		require.NoError(r, err, "backend %d is still there", pid)
		if !here {
			return
		}
	}
}

// outcome is what a goroutine's call returned.
type outcome chan error

func start(call func() error) outcome {
	done := make(outcome, 1)
	go func() { done <- call() }()
	return done
}

func (o outcome) wait(t testing.TB) error {
	t.Helper()
	select {
	case err := <-o:
		return err
	case <-time.After(patience):
		require.FailNow(t, "the call never returned")
		return nil
	}
}

// recorder keeps the events of a wire in their order.
type recorder struct {
	testing.TB
	mu     sync.Mutex
	events []toxiproxy.Event
	more   chan struct{} // closed and renewed at every event
}

func newRecorder(t testing.TB) *recorder {
	return &recorder{TB: t, more: make(chan struct{})}
}

func (r *recorder) record(e toxiproxy.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	close(r.more)
	r.more = make(chan struct{})
}

func (r *recorder) all() []toxiproxy.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]toxiproxy.Event(nil), r.events...)
}

// await gives the first event of the kind and label ("" is any), past or to come, that is not
// given yet.
func (r *recorder) await(kind toxiproxy.Kind, label string) toxiproxy.Event {
	r.Helper()
	deadline := time.After(patience)
	for {
		r.mu.Lock()
		for i, e := range r.events {
			if e.Kind == kind && (label == "" || e.Command.Label() == label) {
				r.events = append(r.events[:i:i], r.events[i+1:]...)
				r.mu.Unlock()
				return e
			}
		}
		more := r.more
		r.mu.Unlock()
		select {
		case <-more:
		case <-deadline:
			require.FailNow(r, "no such event", "%v %q in\n%s", kind, label, r.story())
		}
	}
}

// story writes the events that are left, one a line.
func (r *recorder) story() string {
	var b strings.Builder
	for _, e := range r.all() {
		fmt.Fprintf(&b, "%d %s", e.Conn, e.Kind)
		if e.Command.ID != 0 {
			fmt.Fprintf(&b, " %s", e.Command.Label())
		}
		if e.Kind == toxiproxy.Answered {
			fmt.Fprintf(&b, " %v %s %c", e.Answer.Tags, e.Answer.SQLState, e.Answer.TxStatus)
		}
		b.WriteString(" " + e.Reason + "\n")
	}
	return b.String()
}

// sqlState is the code of a server error, "" when err is none.
func sqlState(err error) string {
	var server *pgconn.PgError
	if errors.As(err, &server) {
		return server.Code
	}
	return ""
}

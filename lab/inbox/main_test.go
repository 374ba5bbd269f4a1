package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"webhooklab"
	"webhooklab/lab/inbox"
	"webhooklab/lab/postgres"
)

// template is the schema that every test clones, on the server that this test binary started.
var template *postgres.Template

func TestMain(m *testing.M) { os.Exit(runOnServer(m)) }

func runOnServer(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	server, err := postgres.Start(ctx, postgres.Config{})
	if err != nil {
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

// database is one test's own clone and its receiver on a small pool.
type database struct {
	dsn      string
	pool     *pgxpool.Pool
	receiver *inbox.Snapshots
}

func newDatabase(t testing.TB) *database {
	t.Helper()
	noLeaks(t)
	clone, err := template.Clone(bounded(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, clone.Drop(bounded(t))) })
	d := &database{dsn: clone.DSN()}
	d.pool = d.newPool(t, func(c *pgxpool.Config) { c.MaxConns = 4 })
	d.receiver = inbox.NewSnapshots(d.pool, inbox.Options{})
	return d
}

// newPool opens another pool on the same database.
func (d *database) newPool(t testing.TB, configure func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(d.dsn)
	require.NoError(t, err)
	configure(config)
	pool, err := pgxpool.NewWithConfig(bounded(t), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

func (d *database) exec(t testing.TB, sql string, arguments ...any) {
	t.Helper()
	_, err := d.pool.Exec(bounded(t), sql, arguments...)
	require.NoError(t, err)
}

// number asks for one integer.
func (d *database) number(t testing.TB, sql string, arguments ...any) int {
	t.Helper()
	var n int
	require.NoError(t, d.pool.QueryRow(bounded(t), sql, arguments...).Scan(&n))
	return n
}

// state is the current revision and snapshot of an object, as text, or "none".
func (d *database) state(t testing.TB, source, object string) string {
	t.Helper()
	var state string
	require.NoError(t, d.pool.QueryRow(bounded(t), `
		SELECT coalesce((
			SELECT revision || ' ' || snapshot
			FROM object_state
			WHERE source = $1 AND object_id = $2), 'none')`, source, object).Scan(&state))
	return state
}

// accepts requires an outcome, refuses a kind of error with no outcome.
func accepts(t testing.TB, r *inbox.Snapshots, want inbox.Outcome, e inbox.SnapshotEvent) {
	t.Helper()
	outcome, err := r.Receive(bounded(t), e)
	require.NoError(t, err)
	require.Equal(t, want, outcome)
}

func refuses(t testing.TB, r *inbox.Snapshots, kind error, e inbox.SnapshotEvent) *inbox.Error {
	t.Helper()
	outcome, err := r.Receive(bounded(t), e)
	return failsAs(t, kind, outcome, err)
}

func failsAs(t testing.TB, kind error, outcome inbox.Outcome, err error) *inbox.Error {
	t.Helper()
	require.ErrorIs(t, err, kind)
	require.Empty(t, outcome)
	for _, other := range []error{
		inbox.ErrInvalid, inbox.ErrReusedEventID, inbox.ErrReusedRevision, inbox.ErrUnavailable,
		inbox.ErrLeaseLost, inbox.ErrReusedKey,
	} {
		require.Equal(t, other == kind, errors.Is(err, other), "an error is of one kind: %v", err)
	}
	var failure *inbox.Error
	require.ErrorAs(t, err, &failure)
	return failure
}

// event is one of source "shop" with a snapshot.
func event(id, object string, revision int64, snapshot string) inbox.SnapshotEvent {
	return inbox.SnapshotEvent{
		Source: "shop", EventID: id, ObjectID: object, Revision: revision,
		Snapshot: []byte(snapshot),
	}
}

// bounded is a context that ends with the test, or after a minute.
func bounded(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// noLeaks is called first, so that it checks last: after the pools have closed.
func noLeaks(t testing.TB) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
}

// waitUntil asks until the query gives true. It fails when the test's bound is reached.
func (d *database) waitUntil(t testing.TB, sql string, arguments ...any) {
	t.Helper()
	ctx := bounded(t)
	for holds := false; !holds; {
		require.NoError(t, d.pool.QueryRow(ctx, sql, arguments...).Scan(&holds))
	}
}

// waitsFor holds once the backend waits for the other one's transaction.
func (d *database) waitsFor(t testing.TB, waiter, holder uint32) {
	t.Helper()
	d.waitUntil(t, `SELECT $1 = ANY (pg_blocking_pids($2))`, holder, waiter)
}

// connect opens a connection of its own.
func (d *database) connect(t testing.TB) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(bounded(t), d.dsn)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = conn.Close(context.Background())
		<-conn.PgConn().CleanupDone()
	})
	return conn
}

// serverError is what the server said, empty if it said nothing.
func serverError(err error) pgconn.PgError {
	var said *pgconn.PgError
	if !errors.As(err, &said) {
		return pgconn.PgError{}
	}
	return *said
}

package toxiproxy_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"webhooklab/toxiproxy"
)

// work is one kind of command that a fault is aimed at.
type work struct {
	name   string
	target string // label of the command that is cut
	do     func(ctx context.Context, c *pgx.Conn) error
	rows   []int64 // there once it is executed and the connection is gone
}

// works are all shapes in which a receiver may write.
func works() []work {
	return []work{
		{"COMMIT", "COMMIT", inTransaction, []int64{1}},
		{"INSERT in a transaction", "INSERT entry", inTransaction, nil},
		{"autocommit INSERT", "INSERT entry", func(ctx context.Context, c *pgx.Conn) error {
			_, err := c.Exec(ctx, insert, 1, "x")
			return err
		}, []int64{1}},
		{"INSERT RETURNING", "INSERT entry", func(ctx context.Context, c *pgx.Conn) error {
			var id int64
			return c.QueryRow(ctx, insert+" RETURNING id", 1, "x").Scan(&id)
		}, []int64{1}},
		{"batch", "BATCH INSERT entry, INSERT other", func(ctx context.Context, c *pgx.Conn) error {
			b := &pgx.Batch{}
			b.Queue(insert, 1, "x")
			b.Queue("INSERT INTO other (id) VALUES ($1)", 2)
			return c.SendBatch(ctx, b).Close()
		}, []int64{1}},
		{"simple protocol", "BATCH INSERT entry, INSERT other",
			func(ctx context.Context, c *pgx.Conn) error {
				_, err := c.Exec(ctx, "INSERT INTO entry VALUES (1); INSERT INTO other VALUES (2)")
				return err
			}, []int64{1}},
		{"COPY", "COPY entry", func(ctx context.Context, c *pgx.Conn) error {
			_, err := c.CopyFrom(ctx, pgx.Identifier{"entry"}, []string{"id", "body"},
				pgx.CopyFromRows([][]any{{1, "x"}}))
			return err
		}, []int64{1}},
	}
}

func inTransaction(ctx context.Context, c *pgx.Conn) error {
	tx, err := c.Begin(ctx)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, insert, 1, "x"); err != nil {
		_ = tx.Rollback(ctx) // its error would only say that the connection is closed
		return err
	}
	return tx.Commit(ctx)
}

// A command that is cut never reaches the server; one whose acknowledgement is dropped was
// executed before its client learns anything, and the client is told nothing at all.
func TestFaults(t *testing.T) {
	for _, w := range works() {
		for _, at := range []toxiproxy.Place{toxiproxy.BeforeCommand, toxiproxy.AfterCommand} {
			for _, how := range []toxiproxy.Close{toxiproxy.FIN, toxiproxy.RST, toxiproxy.Hang} {
				t.Run(fmt.Sprintf("%s/%v/%v", w.name, at, how), func(t *testing.T) {
					testFault(t, w, at, how, false)
					testFault(t, w, at, how, true)
				})
			}
		}
	}
}

// testFault cuts w at one place. Held: the fault is given at the release, else it is armed.
func testFault(t *testing.T, w work, at toxiproxy.Place, how toxiproxy.Close, held bool,
	stock ...toxiproxy.Toxic) {
	r := newRig(t, stock...)
	c := r.client()
	ctx, cancel := context.WithCancel(bounded(t))
	defer cancel()
	witness := &witness{rig: r}
	f := &toxiproxy.Fault{At: at, Close: how, OnFire: witness.look}
	if held {
		r.Gate(true)
	} else {
		f.Match = func(c toxiproxy.Command) bool { return c.Label() == w.target }
		r.Arm(f)
	}
	done := start(func() error { return w.do(ctx, c) })
	if held {
		r.releaseUntil(w.target, f)
	}
	fired := r.await(toxiproxy.Fired, w.target)
	require.Equal(t, f, fired.Fault)
	if how == toxiproxy.Hang {
		cancel() // only the client's own patience ends this
	}
	err := done.wait(t)
	if how == toxiproxy.Hang { // pgx would wait 15 s for the server to say goodbye
		_ = c.PgConn().Conn().Close()
	}
	cutWhileSending := w.target == "COPY entry" && at == toxiproxy.BeforeCommand &&
		pgconn.SafeToRetry(err) // before it had sent the end of the data, and pgx knows that much
	if !cutWhileSending {
		requireLost(t, err, how)
	}

	require.Equal(t, 1, f.Fired())
	require.Zero(t, f.Leaked())
	hangUp(t, c)
	r.gone(fired.PID)
	closed := r.await(toxiproxy.Closed, "")
	require.Equal(t, fired.PID, closed.PID)
	require.Contains(t, closed.Reason, w.target)
	if at == toxiproxy.BeforeCommand {
		require.Empty(t, f.Executed().Tags)
		require.Empty(t, r.ids())
		return
	}
	require.NotEmpty(t, f.Executed().Tags)
	require.Empty(t, f.Executed().SQLState)
	require.Equal(t, w.rows != nil, f.Executed().Committed())
	require.Equal(t, w.rows, append([]int64(nil), r.ids()...))
	require.Equal(t, append([]int64{}, w.rows...), witness.ids)
	require.Zero(t, f.Leaked())
}

// releaseUntil lets commands go one by one, the target with the fault.
func (r *rig) releaseUntil(target string, f *toxiproxy.Fault) {
	for {
		c := r.await(toxiproxy.Held, "").Command
		if c.Label() == target {
			require.NoError(r, r.Release(c, f))
			r.Gate(false)
			return
		}
		require.NoError(r, r.Release(c, nil))
	}
}

// witness asks the server, over the observer's connection, while the client knows nothing yet.
type witness struct {
	*rig
	ids []int64
}

func (w *witness) look(toxiproxy.Event) { w.ids = w.rig.ids() }

// requireLost says what a client may learn of each close: never whether it was executed.
func requireLost(t *testing.T, err error, how toxiproxy.Close) {
	t.Helper()
	require.Error(t, err)
	require.Empty(t, sqlState(err))
	require.False(t, pgconn.SafeToRetry(err), "%v", err)
	switch {
	case errors.Is(err, pgconn.ErrConnClosed): // all that Commit says
	case how == toxiproxy.FIN:
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	case how == toxiproxy.RST:
		require.ErrorIs(t, err, syscall.ECONNRESET)
	case how == toxiproxy.Hang:
		require.ErrorIs(t, err, context.Canceled)
	}
}

// The server's own record of a transaction says whether COMMIT was executed, and says it before
// the client is told anything.
func TestDroppedCommitIsCommitted(t *testing.T) {
	want := map[toxiproxy.Place]string{
		toxiproxy.BeforeCommand: "aborted",
		toxiproxy.AfterCommand:  "committed",
	}
	for at, status := range want {
		for _, how := range []toxiproxy.Close{toxiproxy.FIN, toxiproxy.RST, toxiproxy.Hang} {
			t.Run(fmt.Sprintf("%v/%v", at, how), func(t *testing.T) {
				asked, final := commitStatus(t, at, how)
				require.Equal(t, status, final)
				if at == toxiproxy.AfterCommand {
					require.Equal(t, "committed", asked)
				}
			})
		}
	}
}

// commitStatus loses a COMMIT, and returns what the server said of its transaction when the fault
// fired and when its backend was gone.
func commitStatus(t *testing.T, at toxiproxy.Place, how toxiproxy.Close) (asked, final string) {
	r := newRig(t)
	c := r.client()
	ctx, cancel := context.WithCancel(bounded(t))
	defer cancel()
	tx, err := c.Begin(ctx)
	require.NoError(t, err)
	_, err = tx.Exec(ctx, insert, 1, "x")
	require.NoError(t, err)
	var xid string
	require.NoError(t, tx.QueryRow(ctx, "SELECT pg_current_xact_id()::text").Scan(&xid))
	ask := func() (status string) {
		err := r.observer.QueryRow(bounded(t),
			"SELECT pg_xact_status($1::text::xid8)", xid).Scan(&status)
		require.NoError(t, err)
		return status
	}
	f := &toxiproxy.Fault{At: at, Close: how, OnFire: func(toxiproxy.Event) { asked = ask() }}
	r.Arm(f)
	done := start(func() error { return tx.Commit(ctx) })
	r.await(toxiproxy.Fired, "COMMIT")
	if how == toxiproxy.Hang {
		cancel()
	}
	requireLost(t, done.wait(t), how)
	require.Equal(t, 1, f.Fired())
	require.Zero(t, f.Leaked())
	_ = c.PgConn().Conn().Close()
	r.gone(c.PgConn().PID())
	return asked, ask()
}

// A fault that is never reached says so.
func TestFaultNeverReached(t *testing.T) {
	r := newRig(t)
	c := r.client()
	f := &toxiproxy.Fault{Match: func(c toxiproxy.Command) bool { return c.Label() == "COMMIT" }}
	r.Arm(f)
	_, err := c.Exec(bounded(t), insert, 1, nil)
	require.NoError(t, err)
	require.Zero(t, f.Fired())
	require.Zero(t, f.Leaked())
	r.Disarm(f)
	require.NoError(t, inTransactionOf(c, 2))
	require.Zero(t, f.Fired())
}

func inTransactionOf(c *pgx.Conn, id int) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, insert, id, nil)
		return err
	})
}

// A fault is aimed at one connection by its backend's PID, and at one command by Skip.
func TestFaultAims(t *testing.T) {
	r := newRig(t)
	victim, bystander := r.client(), r.client()
	f := &toxiproxy.Fault{
		At:    toxiproxy.AfterCommand,
		Match: func(c toxiproxy.Command) bool { return c.Label() == "COMMIT" },
		PID:   victim.PgConn().PID(),
		Skip:  2,
	}
	r.Arm(f)
	for id := 1; id <= 2; id++ {
		require.NoError(t, inTransactionOf(victim, id))
		require.NoError(t, inTransactionOf(bystander, 10+id))
	}
	require.Zero(t, f.Fired())
	require.Error(t, inTransactionOf(victim, 3))
	require.Equal(t, 1, f.Fired())
	require.NoError(t, inTransactionOf(bystander, 13))
	require.NoError(t, inTransactionOf(r.client(), 23), "a fault fires once")
	require.Equal(t, 1, f.Fired())
	require.Equal(t, []int64{1, 2, 3, 11, 12, 13, 23}, r.ids())
}

// A fault is used once, and only a sound one.
func TestFaultMisused(t *testing.T) {
	r := newRig(t)
	c := r.client()
	r.Gate(true)
	ctx := bounded(t)
	done := start(func() error { _, err := c.Exec(ctx, insert, 1, nil); return err })
	held := r.await(toxiproxy.Held, "").Command
	require.ErrorContains(t, r.Release(held, &toxiproxy.Fault{At: 7}), "BeforeCommand")
	require.ErrorContains(t, r.Release(held, &toxiproxy.Fault{Close: 7}), "FIN")
	require.Panics(t, func() { r.Arm(&toxiproxy.Fault{Close: -1}) })
	f := &toxiproxy.Fault{At: toxiproxy.AfterCommand}
	require.NoError(t, r.Release(held, f))
	require.Error(t, done.wait(t))

	again := r.client()
	done = start(func() error { _, err := again.Exec(ctx, insert, 2, nil); return err })
	held = r.await(toxiproxy.Held, "").Command
	require.ErrorContains(t, r.Release(held, f), "another command")
	require.NoError(t, r.Release(held, nil))
	require.NoError(t, done.wait(t))
}

// The server's refusal of a doomed command is an answer like any other: it is dropped, and kept
// in the fault.
func TestDroppedError(t *testing.T) {
	r := newRig(t)
	c := r.client()
	_, err := r.observer.Exec(bounded(t), insert, 1, "there")
	require.NoError(t, err)
	f := &toxiproxy.Fault{At: toxiproxy.AfterCommand}
	r.Arm(f)
	_, err = c.Exec(bounded(t), insert, 1, "again")
	requireLost(t, err, toxiproxy.FIN)
	require.Equal(t, "23505", f.Executed().SQLState)
	require.False(t, f.Executed().Committed())
	require.Zero(t, f.Leaked())
}

// COMMIT of a failed transaction answers ROLLBACK without an error: nothing was committed.
func TestCommitOfAFailedTransaction(t *testing.T) {
	r := newRig(t)
	c := r.client()
	ctx := bounded(t)
	tx, err := c.Begin(ctx)
	require.NoError(t, err)
	_, err = tx.Exec(ctx, "SELECT 1/0")
	require.Equal(t, "22012", sqlState(err))
	require.ErrorIs(t, tx.Commit(ctx), pgx.ErrTxCommitRollback)
	require.Equal(t, byte('E'), r.await(toxiproxy.Answered, "SELECT").Answer.TxStatus)
	answer := r.await(toxiproxy.Answered, "COMMIT").Answer
	require.Equal(t, []string{"ROLLBACK"}, answer.Tags)
	require.False(t, answer.Committed())
}

// A connection left hanging tells neither side, until the wire is severed or closed.
func TestHangUntilSevered(t *testing.T) {
	r := newRig(t)
	c := r.client()
	f := &toxiproxy.Fault{At: toxiproxy.AfterCommand, Close: toxiproxy.Hang}
	r.Arm(f)
	ctx := bounded(t)
	done := start(func() error { _, err := c.Exec(ctx, insert, 1, nil); return err })
	fired := r.await(toxiproxy.Fired, "")
	_, err := r.observer.Exec(ctx, "SELECT pg_terminate_backend($1)", int32(fired.PID))
	require.NoError(t, err)
	r.gone(fired.PID) // not even the death of the server's end is told
	require.Empty(t, done, "the client was told")
	require.Equal(t, 1, r.Connections())
	require.Zero(t, f.Leaked())
	r.Sever(toxiproxy.RST)
	require.ErrorIs(t, done.wait(t), syscall.ECONNRESET)
	require.Zero(t, f.Leaked())
	r.await(toxiproxy.Closed, "")
}

// Closing the wire ends a connection that hangs, for good.
func TestCloseWhileHanging(t *testing.T) {
	for _, at := range []toxiproxy.Place{toxiproxy.BeforeCommand, toxiproxy.AfterCommand} {
		t.Run(at.String(), func(t *testing.T) {
			r := newRig(t)
			c := r.client()
			r.Arm(&toxiproxy.Fault{At: at, Close: toxiproxy.Hang})
			ctx := bounded(t)
			done := start(func() error { _, err := c.Exec(ctx, insert, 1, nil); return err })
			fired := r.await(toxiproxy.Fired, "")
			require.NoError(t, r.Close())
			require.Error(t, done.wait(t))
			r.gone(fired.PID)
		})
	}
}

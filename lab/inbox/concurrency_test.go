package inbox_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

// answer is what one delivery came to.
type answer struct {
	outcome inbox.Outcome
	err     error
}

// receive delivers in a goroutine that ends with its one answer.
func receive(t testing.TB, r *inbox.Snapshots, e inbox.SnapshotEvent) <-chan answer {
	answers := make(chan answer, 1)
	ctx := bounded(t)
	go func() {
		outcome, err := r.Receive(ctx, e)
		answers <- answer{outcome, err}
	}()
	return answers
}

func TestFiftyCopiesAtOnceMakeOneChange(t *testing.T) {
	d := newDatabase(t)
	pool := d.newPool(t, func(c *pgxpool.Config) { c.MaxConns = 10 })
	receiver := inbox.NewSnapshots(pool, inbox.Options{})
	var answers []<-chan answer
	for range 50 {
		answers = append(answers, receive(t, receiver, paid))
	}
	count := map[inbox.Outcome]int{}
	for _, a := range answers {
		got := <-a
		require.NoError(t, got.err)
		count[got.outcome]++
	}
	require.Equal(t, map[inbox.Outcome]int{inbox.Applied: 1, inbox.Duplicate: 49}, count)
	require.Equal(t, 1, d.number(t, `SELECT count(*) FROM webhook_inbox`))
}

func TestRevisionsAtOnceEndAtTheGreatest(t *testing.T) {
	d := newDatabase(t)
	pool := d.newPool(t, func(c *pgxpool.Config) { c.MaxConns = 10 })
	receiver := inbox.NewSnapshots(pool, inbox.Options{})
	var answers []<-chan answer
	for revision := range int64(30) {
		e := event(fmt.Sprint("evt_", revision), "order_1", revision+1, `{}`)
		answers = append(answers, receive(t, receiver, e), receive(t, receiver, e))
	}
	count := map[inbox.Outcome]int{}
	for _, a := range answers {
		got := <-a
		require.NoError(t, got.err)
		count[got.outcome]++
	}
	require.Equal(t, 30, count[inbox.Duplicate])
	require.Equal(t, 30, count[inbox.Applied]+count[inbox.Stale])
	require.Equal(t, "30 {}", d.state(t, "shop", "order_1"))
}

// The second copy waits for the first, and is what the first one's end makes it.
func TestACopyWaitsForTheOpenOne(t *testing.T) {
	second := event("evt_2", "order_1", 1, `{}`)
	changed := event("evt_1", "order_1", 1, `{"status": "void"}`)
	for _, c := range []struct {
		name    string
		copy    inbox.SnapshotEvent
		end     string // of the open one
		outcome inbox.Outcome
		err     error
	}{
		{"copy, committed", paid, "COMMIT", inbox.Duplicate, nil},
		{"copy, rolled back", paid, "ROLLBACK", inbox.Applied, nil},
		{"changed, committed", changed, "COMMIT", "", inbox.ErrReusedEventID},
		{"changed, rolled back", changed, "ROLLBACK", inbox.Applied, nil},
		{"same revision, committed", second, "COMMIT", "", inbox.ErrReusedRevision},
		{"same revision, rolled back", second, "ROLLBACK", inbox.Applied, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDatabase(t)
			holder := d.connect(t)
			_, err := holder.Exec(bounded(t), `BEGIN; INSERT INTO webhook_inbox
				VALUES ('shop', 'evt_1', 'order_1', 1, '{"status": "paid"}')`)
			require.NoError(t, err)
			conn := d.connect(t)
			pid := conn.PgConn().PID()
			answers := receive(t, inbox.NewSnapshots(conn, inbox.Options{}), c.copy)
			d.waitsFor(t, pid, holder.PgConn().PID())

			_, err = holder.Exec(bounded(t), c.end)
			require.NoError(t, err)
			got := <-answers
			require.ErrorIs(t, got.err, c.err)
			require.Equal(t, c.outcome, got.outcome)
			require.Equal(t, 1, d.number(t, `SELECT count(*) FROM webhook_inbox`))
		})
	}
}

// deadlock lets an outside writer hold the object row, the receiver hold the event id, and each
// wait for the other, the receiver last, so that PostgreSQL picks it as the victim. It gives the
// outsider, whose transaction is still open and holds both, and the receiver's answer to come.
func deadlock(t *testing.T, d *database, o inbox.Options) (*pgx.Conn, <-chan answer, *errorCounts) {
	d.exec(t, `INSERT INTO object_state VALUES ('shop', 'order_1', 1, '{}')`)
	outsider := d.connect(t)
	_, err := outsider.Exec(bounded(t), `BEGIN; UPDATE object_state SET snapshot = '{"v": 0}'`)
	require.NoError(t, err)

	claimed, closing, closed := make(chan uint32, 1), make(chan struct{}), make(chan struct{})
	victim := &errorCounts{sqlstate: "40P01"}
	pool := d.newPool(t, func(c *pgxpool.Config) { c.ConnConfig.Tracer = victim })
	first := true
	held := between{pool, "INSERT INTO object_state", func(tx pgx.Tx) {
		if first {
			first = false
			claimed <- tx.Conn().PgConn().PID()
			<-closing
		}
	}}
	// A second try that claims before the outsider has woken would only make a second deadlock.
	db := between{held, "INSERT INTO webhook_inbox", func(pgx.Tx) {
		if !first {
			<-closed
		}
	}}
	answers := receive(t, inbox.NewSnapshots(db, o), event("evt_2", "order_1", 2, `{"v": 2}`))
	receiver := <-claimed

	inserted := make(chan error, 1)
	ctx := bounded(t)
	go func() {
		_, err := outsider.Exec(ctx, `SET LOCAL deadlock_timeout = '1h'; INSERT INTO webhook_inbox
			VALUES ('shop', 'evt_2', 'order_1', 2, '{"v": 2}')`)
		inserted <- err
	}()
	d.waitsFor(t, outsider.PgConn().PID(), receiver)
	close(closing)
	err = <-inserted
	close(closed)
	require.NoError(t, err)
	return outsider, answers, victim
}

func TestADeadlockIsRetriedInside(t *testing.T) {
	for end, outcome := range map[string]inbox.Outcome{
		"COMMIT":   inbox.Duplicate,
		"ROLLBACK": inbox.Applied,
	} {
		d := newDatabase(t)
		outsider, answers, victim := deadlock(t, d, inbox.Options{Attempts: 2})
		_, err := outsider.Exec(bounded(t), end)
		require.NoError(t, err)
		got := <-answers
		require.NoError(t, got.err)
		require.Equal(t, outcome, got.outcome)
		require.EqualValues(t, 1, victim.seen.Load())
		require.Equal(t, 1, d.number(t, `SELECT count(*) FROM webhook_inbox`))
	}
}

func TestADeadlockWithoutFurtherAttemptsIsUnavailable(t *testing.T) {
	d := newDatabase(t)
	outsider, answers, _ := deadlock(t, d, inbox.Options{Attempts: 1})
	got := <-answers
	failure := failsAs(t, inbox.ErrUnavailable, got.outcome, got.err)
	require.Equal(t, "40P01", failure.SQLSTATE)
	require.Equal(t, "advance", failure.Step)
	var refused *pgconn.PgError
	require.ErrorAs(t, got.err, &refused)
	_, err := outsider.Exec(bounded(t), "ROLLBACK")
	require.NoError(t, err)
	d.exec(t, `DELETE FROM object_state`)
	d.holdsNothing(t)
}

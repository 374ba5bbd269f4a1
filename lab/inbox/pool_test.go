package inbox_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

// fill stores so many receipts at once, evt_1 and up, in the order of their numbers.
func (d *database) fill(t testing.TB, receipts int) {
	t.Helper()
	d.exec(t, `
		INSERT INTO webhook_receipt
			(source, event_id, event_type, payload, raw_body, model, status, max_attempts,
			 next_attempt_at, actor)
		SELECT 'shop', 'evt_' || n, 'order.paid', '{}', '{}', 'leased', 'pending', 10,
		       clock_timestamp(), 'test'
		FROM generate_series(1, $1::int) AS n`, receipts)
}

// running is a pool at work on connections of its own.
type running struct {
	*inbox.Pool
	outcomes chan inbox.Outcome
	errors   chan error
	stop     func()
	ended    chan error
}

// run starts a pool of so many workers; its reports are kept until they are asked for.
func (d *database) run(
	t testing.TB, change inbox.Change, size int, w inbox.WorkerOptions, o inbox.PoolOptions,
) *running {
	t.Helper()
	db := d.newPool(t, func(c *pgxpool.Config) { c.MaxConns = int32(size) + 2 })
	return runOn(t, db, change, size, w, o)
}

func runOn(
	t testing.TB, db inbox.DB, change inbox.Change, size int,
	w inbox.WorkerOptions, o inbox.PoolOptions,
) *running {
	r := &running{
		outcomes: make(chan inbox.Outcome, 100_000),
		errors:   make(chan error, 100_000),
		ended:    make(chan error, 1),
	}
	o.Report = func(outcome inbox.Outcome, err error) {
		if outcome != "" {
			r.outcomes <- outcome
		}
		if err != nil {
			r.errors <- err
		}
	}
	r.Pool = inbox.NewPool(inbox.NewWorker(db, change, w), size, o)
	ctx, cancel := context.WithCancel(bounded(t))
	r.stop = cancel
	go func() { r.ended <- r.Run(ctx) }()
	return r
}

// end stops the pool, once it has come to so many outcomes, and counts them.
func (r *running) end(t testing.TB, after int) map[inbox.Outcome]int {
	t.Helper()
	count := map[inbox.Outcome]int{}
	ctx := bounded(t)
	for range after {
		select {
		case outcome := <-r.outcomes:
			count[outcome]++
		case <-ctx.Done():
			require.Fail(t, "the pool is stuck", "outcomes so far: %v", count)
		}
	}
	r.stop()
	require.NoError(t, <-r.ended)
	close(r.outcomes)
	for outcome := range r.outcomes {
		count[outcome]++
	}
	return count
}

func TestEightWorkersShareNoReceipt(t *testing.T) {
	receipts := 10_000
	if testing.Short() {
		receipts = 500
	}
	d := withEffects(t)
	d.fill(t, receipts)
	pool := d.run(t, effect, 8, inbox.WorkerOptions{}, inbox.PoolOptions{})
	require.Equal(t, map[inbox.Outcome]int{inbox.Processed: receipts}, pool.end(t, receipts))
	require.Empty(t, pool.errors)
	require.Equal(t, receipts, d.effects(t))
	require.Equal(t, receipts, d.number(t, `SELECT count(DISTINCT event_id) FROM effect`))
	require.Equal(t, receipts, d.number(t, `SELECT count(*) FROM webhook_receipt
		WHERE status = 'processed' AND attempts = 1`))
}

// Events that fail, panic, are rejected or were lost with a process, among many that are well.
func TestAPoolFinishesWhatIsHealthyAndWhatIsNot(t *testing.T) {
	d := withEffects(t)
	d.fill(t, 200)
	d.exec(t, `UPDATE webhook_receipt SET max_attempts = 2`)
	d.exec(t, `UPDATE webhook_receipt SET status = 'processing', attempts = attempts + 1,
		lease_token = lease_token + 1, next_attempt_at = NULL, last_attempt_at = clock_timestamp(),
		lease_expires_at = clock_timestamp() WHERE event_id LIKE '%5'`)
	change := func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
		err := effect(ctx, tx, e)
		switch {
		case strings.HasSuffix(e.ID, "7"):
			return errShop
		case strings.HasSuffix(e.ID, "8"):
			panic(e.ID)
		case strings.HasSuffix(e.ID, "9"):
			return inbox.Permanent(errShop)
		}
		return err
	}
	pool := d.run(t, change, 4, inbox.WorkerOptions{Backoff: 1, BackoffLimit: 1},
		inbox.PoolOptions{Poll: time.Millisecond})
	require.Equal(t, map[inbox.Outcome]int{
		inbox.Processed: 140, inbox.Failed: 40, inbox.Dead: 40, inbox.Rejected: 20,
	}, pool.end(t, 240))
	require.Equal(t, 140, d.effects(t))
	require.Equal(t, 140, d.number(t, `SELECT count(DISTINCT event_id) FROM effect`))
	require.Equal(t, 20, d.number(t, `SELECT count(*) FROM webhook_receipt
		WHERE status = 'processed' AND attempts = 2`), "those that were lost")
}

// held is a change that says when it is under way and waits to be let go, or cancelled.
func held() (change inbox.Change, underWay chan string, letGo chan struct{}) {
	underWay, letGo = make(chan string), make(chan struct{})
	return func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
		underWay <- e.ID
		select {
		case <-letGo:
			return effect(ctx, tx, e)
		case <-ctx.Done():
			return ctx.Err()
		}
	}, underWay, letGo
}

func TestAStoppedPoolFinishesWhatItHolds(t *testing.T) {
	d := withEffects(t)
	d.fill(t, 10)
	change, underWay, letGo := held()
	pool := d.run(t, change, 3, inbox.WorkerOptions{}, inbox.PoolOptions{Grace: time.Hour})
	for range 3 {
		<-underWay
	}
	pool.stop()
	close(letGo)
	require.Equal(t, map[inbox.Outcome]int{inbox.Processed: 3}, pool.end(t, 3))
	require.Equal(t, 3, d.effects(t))
	require.Equal(t, 7, d.number(t, `SELECT count(*) FROM webhook_receipt
		WHERE status = 'pending' AND attempts = 0`), "nothing more was claimed")
}

func TestAStoppedPoolReleasesWhatTakesTooLong(t *testing.T) {
	d := withEffects(t)
	d.fill(t, 10)
	change, underWay, _ := held()
	pool := d.run(t, change, 3, inbox.WorkerOptions{}, inbox.PoolOptions{Grace: 1})
	for range 3 {
		<-underWay
	}
	pool.stop()
	require.Equal(t, map[inbox.Outcome]int{inbox.Released: 3}, pool.end(t, 3))
	require.Zero(t, d.effects(t))
	require.Equal(t, 10, d.number(t, `SELECT count(*) FROM webhook_receipt
		WHERE status = 'pending' AND max_attempts - attempts = 10`))
}

// stoppable is a DB that can be taken away.
type stoppable struct {
	inbox.DB
	gone atomic.Bool
}

var errGone = errors.New("the database is gone")

func (s *stoppable) BeginTx(ctx context.Context, o pgx.TxOptions) (pgx.Tx, error) {
	if s.gone.Load() {
		return nil, errGone
	}
	return s.DB.BeginTx(ctx, o)
}

func TestAStoppedPoolSaysWhatItCouldNotRelease(t *testing.T) {
	d := withEffects(t)
	d.fill(t, 2)
	change, underWay, _ := held()
	db := &stoppable{DB: d.pool}
	pool := runOn(t, db, change, 2, inbox.WorkerOptions{}, inbox.PoolOptions{Grace: 1})
	for range 2 {
		<-underWay
	}
	db.gone.Store(true)
	pool.stop()
	require.ErrorIs(t, <-pool.ended, errGone)
	require.Equal(t, 2, d.number(t, `SELECT count(*) FROM webhook_receipt
		WHERE status = 'processing'`), "their leases expire")
}

func TestAPoolOutlivesAnOutage(t *testing.T) {
	d := withEffects(t)
	d.fill(t, 5)
	db := &stoppable{DB: d.pool}
	db.gone.Store(true)
	pool := runOn(t, db, effect, 2, inbox.WorkerOptions{}, inbox.PoolOptions{Poll: 1})
	for range 3 {
		require.ErrorIs(t, <-pool.errors, inbox.ErrUnavailable)
	}
	db.gone.Store(false)
	require.Equal(t, map[inbox.Outcome]int{inbox.Processed: 5}, pool.end(t, 5))
}

// The pool looks again in an hour, unless it is told.
func TestAWokenPoolDoesNotWaitForItsPoll(t *testing.T) {
	d := withEffects(t)
	pool := d.run(t, effect, 3, inbox.WorkerOptions{}, inbox.PoolOptions{Poll: time.Hour})
	for i := range 3 {
		d.accepted(t, 10, string(rune('a'+i)))
		pool.Wake()
		require.Equal(t, inbox.Processed, <-pool.outcomes)
	}
	pool.end(t, 0)
}

func TestAHeartbeatKeepsTheLeaseOfASlowChange(t *testing.T) {
	d := withEffects(t)
	d.fill(t, 1)
	change, underWay, letGo := held()
	pool := d.run(t, change, 1, inbox.WorkerOptions{Lease: time.Second}, inbox.PoolOptions{})
	<-underWay
	d.waitUntil(t, `SELECT lease_expires_at > last_attempt_at + interval '1.5 s'
		FROM webhook_receipt`)
	close(letGo)
	require.Equal(t, map[inbox.Outcome]int{inbox.Processed: 1}, pool.end(t, 1))
	require.Equal(t, "processed | 1 | one effect", d.receipt(t, "evt_1"))
}

// A heartbeat that meets the attempt's own end finds no lease any more, and does no harm.
func TestAHeartbeatThatWaitsForTheCompletionIsNoLoss(t *testing.T) {
	d := withEffects(t)
	d.fill(t, 1)
	commits := 0
	var once sync.Mutex
	db := between{d.newPool(t, func(c *pgxpool.Config) {}), "COMMIT", func(tx pgx.Tx) {
		var completes bool
		require.NoError(t, tx.QueryRow(bounded(t), `SELECT EXISTS (SELECT FROM webhook_receipt
			WHERE status = 'processed' AND xmin = pg_current_xact_id()::xid)`).Scan(&completes))
		if !completes {
			return
		}
		once.Lock()
		defer once.Unlock()
		commits++
		d.waitUntil(t, `SELECT EXISTS (SELECT FROM pg_stat_activity
			WHERE $1 = ANY (pg_blocking_pids(pid)))`, tx.Conn().PgConn().PID())
	}}
	pool := runOn(t, db, effect, 1, inbox.WorkerOptions{Lease: time.Second},
		inbox.PoolOptions{})
	require.Equal(t, map[inbox.Outcome]int{inbox.Processed: 1}, pool.end(t, 1))
	require.Empty(t, pool.errors)
	require.Equal(t, 1, commits)
}

// The heartbeat of a worker that was taken for dead finds out, and its change is cancelled.
func TestALostLeaseCancelsItsChange(t *testing.T) {
	d := withEffects(t)
	d.fill(t, 1)
	change, underWay, _ := held()
	pool := d.run(t, change, 1, inbox.WorkerOptions{Lease: time.Second}, inbox.PoolOptions{})
	<-underWay
	d.exec(t, `UPDATE webhook_receipt SET status = 'pending', next_attempt_at = 'infinity',
		lease_expires_at = NULL`)
	require.Equal(t, inbox.LeaseLost, <-pool.outcomes)
	require.ErrorIs(t, <-pool.errors, inbox.ErrLeaseLost)
	pool.end(t, 0)
	require.Zero(t, d.effects(t))
}

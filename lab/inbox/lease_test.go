package inbox_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

// row is a whole receipt, times and all.
func (d *database) row(t testing.TB, id string) string {
	t.Helper()
	var row string
	require.NoError(t, d.pool.QueryRow(bounded(t),
		`SELECT to_jsonb(r) FROM webhook_receipt AS r WHERE event_id = $1`, id).Scan(&row))
	return row
}

// fencedCalls are all that a lease can do.
var fencedCalls = map[string]func(context.Context, *inbox.Lease) (inbox.Outcome, error){
	"heartbeat": func(ctx context.Context, l *inbox.Lease) (inbox.Outcome, error) {
		return inbox.LeaseLost, l.Heartbeat(ctx)
	},
	"complete": func(ctx context.Context, l *inbox.Lease) (inbox.Outcome, error) {
		return l.Complete(ctx, effect)
	},
	"complete, failing": func(ctx context.Context, l *inbox.Lease) (inbox.Outcome, error) {
		return l.Complete(ctx, failing(errShop))
	},
	"fail": func(ctx context.Context, l *inbox.Lease) (inbox.Outcome, error) {
		return l.Fail(ctx, errShop)
	},
	"reject": func(ctx context.Context, l *inbox.Lease) (inbox.Outcome, error) {
		return l.Fail(ctx, inbox.Permanent(errShop))
	},
	"release": func(ctx context.Context, l *inbox.Lease) (inbox.Outcome, error) {
		return inbox.LeaseLost, l.Release(ctx)
	},
}

// A worker that slept past its lease changes nothing, whatever has become of its receipt.
func TestAPausedWorkerIsPowerless(t *testing.T) {
	for name, since := range map[string]func(*testing.T, *inbox.Worker){
		"recovered": func(t *testing.T, w *inbox.Worker) {
			recovered, err := w.Recover(bounded(t), 10)
			require.NoError(t, err)
			require.Equal(t, 1, recovered)
		},
		"claimed by another": func(t *testing.T, w *inbox.Worker) { claims(t, w) },
		"processed by another": func(t *testing.T, w *inbox.Worker) {
			does(t, inbox.Processed)(w.Work(bounded(t)))
		},
		"failed for another": func(t *testing.T, w *inbox.Worker) {
			does(t, inbox.Failed)(claims(t, w).Fail(bounded(t), errShop))
		},
		"released by another": func(t *testing.T, w *inbox.Worker) {
			require.NoError(t, claims(t, w).Release(bounded(t)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := withEffects(t)
			d.accepted(t, 10, "evt_1")
			paused := claims(t, d.worker(effect, expired))
			since(t, d.worker(effect, expired))
			row, effects := d.row(t, "evt_1"), d.effects(t)
			for call, do := range fencedCalls {
				outcome, err := do(bounded(t), paused)
				require.Equal(t, inbox.LeaseLost, outcome, call)
				failsAs(t, inbox.ErrLeaseLost, "", err)
				require.Equal(t, row, d.row(t, "evt_1"), call)
				require.Equal(t, effects, d.effects(t), call)
			}
		})
	}
}

// The token decides: an expired lease that nobody took is as good as a fresh one.
func TestAnExpiredLeaseThatNobodyTookIsGood(t *testing.T) {
	d := withEffects(t)
	d.accepted(t, 10, "evt_1")
	lease := claims(t, d.worker(effect, expired))
	require.NoError(t, lease.Heartbeat(bounded(t)))
	does(t, inbox.Processed)(lease.Complete(bounded(t), effect))
	require.Equal(t, 1, d.effects(t))
}

// An attempt ends once.
func TestAnEndedAttemptIsOver(t *testing.T) {
	d := withEffects(t)
	d.accepted(t, 10, "evt_1")
	lease := claims(t, d.worker(effect, inbox.WorkerOptions{}))
	does(t, inbox.Processed)(lease.Complete(bounded(t), effect))
	row := d.row(t, "evt_1")
	for call, do := range fencedCalls {
		_, err := do(bounded(t), lease)
		require.ErrorIs(t, err, inbox.ErrLeaseLost, call)
		require.Equal(t, row, d.row(t, "evt_1"), call)
	}
	require.Equal(t, 1, d.effects(t))
}

func TestALeaseThatHoldsIsNotRecovered(t *testing.T) {
	d := withEffects(t)
	d.accepted(t, 10, "evt_1")
	long := inbox.WorkerOptions{}
	lease := claims(t, d.worker(effect, long))
	for range 2 {
		recovered, err := d.worker(effect, long).Recover(bounded(t), 10)
		require.NoError(t, err)
		require.Zero(t, recovered)
		require.NoError(t, lease.Heartbeat(bounded(t)))
	}
	does(t, inbox.Idle)(d.worker(effect, long).Work(bounded(t)))
}

// The lease expires and is taken away while the completion is under way: the completion waits for
// the recovery, finds its token gone, and takes its change back.
func TestACompletionThatWaitsForARecoveryLoses(t *testing.T) {
	for end, want := range map[bool]inbox.Outcome{true: inbox.LeaseLost, false: inbox.Processed} {
		d := withEffects(t)
		d.accepted(t, 10, "evt_1")
		conn := d.connect(t)
		lease := claims(t, inbox.NewWorker(conn, effect, expired))

		holding, ends := make(chan uint32), make(chan bool)
		recovery := inbox.NewWorker(between{d.pool, "COMMIT", func(tx pgx.Tx) {
			holding <- tx.Conn().PgConn().PID()
			if !<-ends {
				_ = tx.Rollback(bounded(t))
			}
		}}, effect, expired)
		recovered := make(chan int, 1)
		go func() {
			n, _ := recovery.Recover(context.Background(), 10)
			recovered <- n
		}()
		holder := <-holding
		completed := make(chan answer, 1)
		ctx := bounded(t)
		go func() {
			outcome, err := lease.Complete(ctx, effect)
			completed <- answer{outcome, err}
		}()
		d.waitsFor(t, conn.PgConn().PID(), holder)

		ends <- end
		got := <-completed
		require.Equal(t, want, got.outcome)
		<-recovered
		if !end {
			require.NoError(t, got.err)
			require.Equal(t, 1, d.effects(t))
			continue
		}
		require.ErrorIs(t, got.err, inbox.ErrLeaseLost)
		require.Zero(t, d.effects(t))
		require.Contains(t, d.receipt(t, "evt_1"), "pending | 1 | the lease expired")
		does(t, inbox.Processed)(d.worker(effect, expired).Work(bounded(t)))
		require.Equal(t, 1, d.effects(t))
	}
}

// The other way round: a completion that came first is not waited for, and not recovered.
func TestARecoveryPassesOverACompletionUnderWay(t *testing.T) {
	d := withEffects(t)
	d.accepted(t, 10, "evt_1")
	completions := 0
	holding, goOn := make(chan struct{}), make(chan struct{})
	worker := inbox.NewWorker(between{d.pool, "COMMIT", func(pgx.Tx) {
		if completions++; completions == 2 { // after that of the claim
			close(holding)
			<-goOn
		}
	}}, effect, expired)
	worked := make(chan answer, 1)
	ctx := bounded(t)
	go func() {
		outcome, err := worker.Work(ctx)
		worked <- answer{outcome, err}
	}()
	<-holding
	recovered, err := d.worker(effect, expired).Recover(bounded(t), 10)
	require.NoError(t, err)
	require.Zero(t, recovered)
	close(goOn)
	require.Equal(t, answer{inbox.Processed, nil}, <-worked)
	require.Equal(t, "processed | 1 | one effect", d.receipt(t, "evt_1"))
}

// Two workers claim at once: while one statement holds a receipt, the other takes the next.
func TestAClaimPassesOverAReceiptBeingClaimed(t *testing.T) {
	d := withEffects(t)
	d.accepted(t, 10, "evt_1", "evt_2")
	holding, goOn := make(chan struct{}), make(chan struct{})
	first := inbox.NewWorker(between{d.pool, "COMMIT", func(pgx.Tx) {
		close(holding)
		<-goOn
	}}, effect, inbox.WorkerOptions{})
	claimed := make(chan string, 1)
	ctx := bounded(t)
	go func() {
		lease, err := first.Claim(ctx)
		if err != nil {
			claimed <- err.Error()
			return
		}
		claimed <- lease.Event().ID
	}()
	<-holding
	second := d.worker(effect, inbox.WorkerOptions{})
	require.Equal(t, "evt_2", claims(t, second).Event().ID)
	does(t, inbox.Idle)(second.Work(bounded(t)))
	close(goOn)
	require.Equal(t, "evt_1", <-claimed)
}

// A backlog of lost leases larger than one batch returns batch by batch, each lease once, also when
// recoveries run side by side.
func TestABacklogOfExpiredLeasesReturnsWhole(t *testing.T) {
	d := withEffects(t)
	d.fill(t, 250)
	d.exec(t, `UPDATE webhook_receipt SET status = 'processing', attempts = attempts + 1,
		lease_token = lease_token + 1, next_attempt_at = NULL, last_attempt_at = clock_timestamp(),
		lease_expires_at = clock_timestamp()`)
	counts := make(chan int, 4)
	ctx := bounded(t)
	for range cap(counts) {
		go func() {
			sum := 0
			for {
				n, err := d.worker(effect, expired).Recover(ctx, 50)
				if sum += n; n == 0 || err != nil {
					counts <- sum
					return
				}
			}
		}()
	}
	sum := 0
	for range cap(counts) {
		sum += <-counts
	}
	require.Equal(t, 250, sum)
	require.Equal(t, 250, d.number(t, `SELECT count(*) FROM webhook_receipt
		WHERE status = 'pending' AND attempts = 1`))
	worker := d.worker(effect, expired)
	for range 250 {
		does(t, inbox.Processed)(worker.Work(bounded(t)))
	}
	require.Equal(t, 250, d.effects(t))
}

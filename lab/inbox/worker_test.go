package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

// expired makes each lease expire as it is taken, and each backoff end as it begins: what a test
// would have to wait for has happened by the time of its next command.
var expired = inbox.WorkerOptions{Lease: 1, Backoff: 1, BackoffLimit: 1}

// accepted stores receipts in this order, with so many attempts.
func (d *database) accepted(t testing.TB, attempts int, ids ...string) {
	t.Helper()
	intake := inbox.NewIntake(d.pool, inbox.Options{MaxAttempts: attempts})
	for _, id := range ids {
		does(t, inbox.Accepted)(intake.Receive(bounded(t), named(id)))
	}
}

func (d *database) worker(change inbox.Change, o inbox.WorkerOptions) *inbox.Worker {
	return inbox.NewWorker(d.pool, change, o)
}

// claims requires that there is something to claim.
func claims(t testing.TB, w *inbox.Worker) *inbox.Lease {
	t.Helper()
	lease, err := w.Claim(bounded(t))
	require.NoError(t, err)
	require.NotNil(t, lease, "a receipt was due")
	return lease
}

func TestALeasedEventIsStoredThenProcessedOnce(t *testing.T) {
	d := withEffects(t)
	intake := inbox.NewIntake(d.pool, inbox.Options{})
	does(t, inbox.Accepted)(intake.Receive(bounded(t), order))
	does(t, inbox.Duplicate)(intake.Receive(bounded(t), order))
	worker := d.worker(effect, inbox.WorkerOptions{Name: "one"})
	does(t, inbox.Processed)(worker.Work(bounded(t)))
	does(t, inbox.Idle)(worker.Work(bounded(t)))
	does(t, inbox.Duplicate)(intake.Receive(bounded(t), order))
	require.Equal(t, 1, d.effects(t))
	require.Equal(t, "processed | 1 | one effect", d.receipt(t, "evt_1"))
	require.Equal(t, "0 pending by intake, 1 processing by one, 1 processed by one",
		d.steps(t, "evt_1"))
	d.addsUp(t)
}

func TestAWorkerGetsTheEventAsItWasAccepted(t *testing.T) {
	d := withEffects(t)
	does(t, inbox.Accepted)(
		inbox.NewIntake(d.pool, inbox.Options{}).Receive(bounded(t), order))
	e := claims(t, d.worker(effect, inbox.WorkerOptions{})).Event()
	want := order
	want.DeliveryID = "" // it belongs to the delivery
	require.Equal(t, want, e)
	e.Changed("outside a change this has no effect")
}

// The claim follows the order of arrival, whatever the ids are.
func TestReceiptsAreClaimedInTheOrderReceived(t *testing.T) {
	d := withEffects(t)
	ids := []string{"c", "a", "d", "b"}
	d.accepted(t, 10, ids...)
	for _, id := range ids {
		require.Equal(t, id, claims(t, d.worker(effect, inbox.WorkerOptions{})).Event().ID)
	}
}

func TestEachEndOfAnAttempt(t *testing.T) {
	for _, c := range []struct {
		change  inbox.Change
		outcome inbox.Outcome
		receipt string
		effects int
	}{
		{effect, inbox.Processed, "processed | 1 | one effect", 1},
		{failing(inbox.ErrIgnored), inbox.Ignored, "processed | 1 | ignored", 1},
		{failing(errShop), inbox.Failed, "failed | 1 | the shop is closed", 0},
		{failing(inbox.Permanent(errShop)), inbox.Rejected, "rejected | 1 | the shop is closed", 0},
	} {
		d := withEffects(t)
		d.accepted(t, 10, "evt_1")
		worker := d.worker(c.change, inbox.WorkerOptions{})
		does(t, c.outcome)(worker.Work(bounded(t)))
		does(t, inbox.Idle)(worker.Work(bounded(t)))
		require.Equal(t, c.receipt, d.receipt(t, "evt_1"))
		require.Equal(t, c.effects, d.effects(t))
		d.addsUp(t)
	}
}

func TestAFailureIsTriedAgainUntilItIsDead(t *testing.T) {
	d := withEffects(t)
	d.accepted(t, 3, "evt_1")
	worker := d.worker(failing(errShop), expired)
	does(t, inbox.Failed)(worker.Work(bounded(t)))
	does(t, inbox.Failed)(worker.Work(bounded(t)))
	does(t, inbox.Dead)(worker.Work(bounded(t)))
	does(t, inbox.Idle)(worker.Work(bounded(t)))
	require.Equal(t, "dead | 3 | the shop is closed", d.receipt(t, "evt_1"))
	require.Zero(t, d.effects(t))
	require.Equal(t, 3, d.number(t, `SELECT attempts FROM operator_reasons
		WHERE status = 'dead' AND failure_reason = 'the shop is closed' AND receipts = 1`))
	d.addsUp(t)
}

func TestABackoffDoublesAndIsCutAtItsLimit(t *testing.T) {
	d := withEffects(t)
	d.accepted(t, 10, "evt_1")
	worker := d.worker(failing(errShop), inbox.WorkerOptions{
		Backoff: time.Hour, BackoffLimit: 3 * time.Hour,
	})
	for _, hours := range []float64{1, 2, 3, 3} {
		does(t, inbox.Failed)(worker.Work(bounded(t)))
		var waits float64
		require.NoError(t, d.pool.QueryRow(bounded(t), `
			SELECT extract(epoch FROM next_attempt_at - clock_timestamp()) / 3600
			FROM webhook_receipt`).Scan(&waits))
		require.Greater(t, waits, hours/2-0.02)
		require.LessOrEqual(t, waits, hours)
		does(t, inbox.Idle)(worker.Work(bounded(t)))
		d.exec(t, `UPDATE webhook_receipt SET next_attempt_at = clock_timestamp()`)
	}
}

// An event that kills its worker is tried as often as one that fails, and no more.
func TestAPayloadThatKillsTheProcessIsDeadAfterItsAttempts(t *testing.T) {
	d := withEffects(t)
	d.accepted(t, 3, "evt_1")
	worker := d.worker(effect, expired)
	for range 3 {
		claims(t, worker) // and nothing more is heard of it
	}
	does(t, inbox.Idle)(worker.Work(bounded(t)))
	require.Contains(t, d.receipt(t, "evt_1"), "dead | 3 | the lease expired")
	require.Zero(t, d.effects(t))
	require.Equal(t, "0 pending by intake, "+
		"1 processing by worker, 1 pending by recovery, "+
		"2 processing by worker, 2 pending by recovery, "+
		"3 processing by worker, 3 dead by recovery", d.steps(t, "evt_1"))
}

func TestADeadReceiptIsRequeuedWithATrace(t *testing.T) {
	d := withEffects(t)
	d.accepted(t, 1, "evt_1", "evt_2")
	does(t, inbox.Dead)(d.worker(failing(errShop), expired).Work(bounded(t)))
	require.NoError(t, inbox.Requeue(bounded(t), d.pool, "shop", "evt_1", "ann", "it is open"))
	require.Equal(t, "pending | 1 | requeued: it is open", d.receipt(t, "evt_1"))
	require.Equal(t, 6, d.number(t, `SELECT max_attempts FROM webhook_receipt
		WHERE event_id = 'evt_1'`))
	require.Equal(t, 1, d.number(t, `SELECT count(*) FROM receipt_transition
		WHERE from_status = 'dead' AND to_status = 'pending' AND actor = 'ann'
		AND reason = 'requeued: it is open' AND attempt = 1`))
	for range 2 {
		does(t, inbox.Processed)(d.worker(effect, expired).Work(bounded(t)))
	}
	require.Equal(t, "processed | 2 | one effect", d.receipt(t, "evt_1"))

	for _, id := range []string{"evt_1", "evt_2", "absent"} {
		err := inbox.Requeue(bounded(t), d.pool, "shop", id, "ann", "again")
		require.ErrorIs(t, err, inbox.ErrInvalid, id)
	}
	for _, empty := range [][2]string{{"", "why"}, {"by", ""}} {
		err := inbox.Requeue(bounded(t), d.pool, "shop", "evt_1", empty[0], empty[1])
		require.ErrorIs(t, err, inbox.ErrInvalid)
	}
}

// A receipt that fails at each attempt stands between the healthy ones, and they are processed in
// the order and by the claims in which they would be without it.
func TestAPoisonousReceiptDelaysNoOther(t *testing.T) {
	sequence := func(poison bool) (claimed []string) {
		d := withEffects(t)
		for i := range 20 {
			if i == 5 && poison {
				d.accepted(t, 10, "poison")
			}
			d.accepted(t, 10, fmt.Sprint("evt_", i))
		}
		worker := d.worker(func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
			if e.ID == "poison" {
				return errShop
			}
			claimed = append(claimed, e.ID)
			return effect(ctx, tx, e)
		}, inbox.WorkerOptions{})
		for outcome := inbox.Processed; outcome != inbox.Idle; {
			var err error
			outcome, err = worker.Work(bounded(t))
			require.NoError(t, err)
		}
		require.Equal(t, 20, d.effects(t))
		return claimed
	}
	require.Equal(t, sequence(false), sequence(true))
}

// Whoever tells a worker to stop gets the receipt back as it was, with its attempt.
func TestACancelledAttemptIsReleased(t *testing.T) {
	d := withEffects(t)
	d.accepted(t, 1, "evt_1", "evt_2")
	ctx, cancel := context.WithCancel(bounded(t))
	worker := d.worker(func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
		defer cancel()
		return errors.Join(effect(ctx, tx, e), ctx.Err())
	}, inbox.WorkerOptions{})
	does(t, inbox.Released)(worker.Work(ctx))
	require.Zero(t, d.effects(t))
	require.Equal(t, "pending | 1 | released", d.receipt(t, "evt_1"))
	does(t, inbox.Processed)(d.worker(effect, expired).Work(bounded(t)))
	require.Equal(t, "processed | 2 | one effect", d.receipt(t, "evt_1"))
}

// A change that takes longer than its bound has failed, and the receipt says so.
func TestAChangeIsBounded(t *testing.T) {
	d := withEffects(t)
	d.accepted(t, 10, "evt_1")
	options := inbox.WorkerOptions{Options: inbox.Options{Timeout: 300 * time.Millisecond}}
	does(t, inbox.Failed)(d.worker(func(ctx context.Context, _ pgx.Tx, _ inbox.Event) error {
		<-ctx.Done()
		return ctx.Err()
	}, options).Work(bounded(t)))
	require.Equal(t, "failed | 1 | context deadline exceeded", d.receipt(t, "evt_1"))
}

// Cut before any of its commands, an attempt changes nothing, and a later one does it all.
func TestALostConnectionProcessesNothing(t *testing.T) {
	for _, nth := range []int{1, 2, 3, 4} {
		d := withEffects(t)
		d.accepted(t, 10, "evt_1")
		commands := 0
		cut := between{d.pool, "", func(tx pgx.Tx) {
			if commands++; commands == nth { // claim, COMMIT, effect, completion, COMMIT
				d.exec(t, `SELECT pg_terminate_backend($1, 10000)`, tx.Conn().PgConn().PID())
			}
		}}
		outcome, err := inbox.NewWorker(cut, effect, expired).Work(bounded(t))
		switch nth {
		case 3: // the change met the failure, and it could be recorded
			does(t, inbox.Failed)(outcome, err)
		default:
			failsAs(t, inbox.ErrUnavailable, outcome, err)
		}
		require.Zero(t, d.effects(t))
		does(t, inbox.Processed)(d.worker(effect, expired).Work(bounded(t)))
		require.Equal(t, 1, d.effects(t))
	}
}

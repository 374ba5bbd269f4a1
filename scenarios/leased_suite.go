package scenarios

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
	"webhooklab/properties"
)

// LeasedSuite is the contract of receipts that are accepted first and processed by workers later.
var LeasedSuite = Suite{
	Name:     "leased",
	Title:    "Receipts, accepted first and processed by leased workers",
	Receiver: Leased,
	State:    receiptState,
	Laws:     properties.Receipts,
	Effects:  effects,
	Reset:    forgetReceipts,
	Programs: slices.Concat(LeasedPrograms, LeasedInputs),
	Swept:    sweptLeased,
	Scenarios: []lab.Scenario{
		LeasedAcceptedThenProcessed,
		LeasedCopyInFlight,
		LeasedReusedEventID,
		LeasedIntakeAckLost,
		LeasedWorkersShareNothing,
		LeasedWorkersTakeTheirOwn,
		LeasedFailureIsRetried,
		LeasedPermanentFailure,
		LeasedDeadAfterLastAttempt,
		LeasedRequeued,
		LeasedRequeuedAlive,
		LeasedRequeuedAlone,
		LeasedCrashAfterClaim,
		LeasedCrashAfterChange,
		LeasedConnectionLost,
		LeasedCompletionAckLost,
		LeasedPausedHeartbeat,
		LeasedPausedCompletion,
		LeasedPausedFailure,
		LeasedPausedRelease,
		LeasedPausedRejection,
		LeasedRecoveredIsLost,
		LeasedRecoveredWaits,
		LeasedLeasesStayApart,
		LeasedExpiresWhileCompletionWaits,
		LeasedRecoveryMeetsCompletion,
		LeasedCompletedBeforeRecovery,
		LeasedSlowChange,
		LeasedReleasedIsNext,
		LeasedReleasedAtLast,
		LeasedKilledByItsPayload,
		LeasedPoisonAmongHealthy,
		LeasedBacklogOfExpired,
		LeasedWorkersReleasedTogether,
	},
	NotPromised: leasedDoesNotPromise,
}

// forgetReceipts empties the tables of receipts: a worker takes whatever is due, also what another
// run has left.
var forgetReceipts = forget("webhook_receipt", "receipt_transition", "webhook_delivery")

// forget is SQL that empties tables whose triggers forbid it: those are for receivers, not for the
// lab. A superuser does it without touching the tables' definitions, which would cost every session
// its plans.
func forget(tables ...string) string {
	var deletes, disable, enable strings.Builder
	for _, t := range tables {
		fmt.Fprintf(&deletes, "DELETE FROM %s;\n", t)
		fmt.Fprintf(&disable, "ALTER TABLE %s DISABLE TRIGGER USER;\n", t)
		fmt.Fprintf(&enable, "ALTER TABLE %s ENABLE TRIGGER USER;\n", t)
	}
	return `DO $$ BEGIN
IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
SET LOCAL session_replication_role = replica;
` + deletes.String() + `ELSE
` + disable.String() + deletes.String() + enable.String() + `END IF;
END $$`
}

// A Clerk accepts events and works on them under leases. Claim keeps the lease for the calls after
// it.
type Clerk interface {
	lab.Receiver
	Work(ctx context.Context) (lab.Answer, error)
	Recover(ctx context.Context) (lab.Answer, error)
	Claim(ctx context.Context) (lab.Answer, error)
	Heartbeat(ctx context.Context) (lab.Answer, error)
	Complete(ctx context.Context) (lab.Answer, error)
	Fail(ctx context.Context) (lab.Answer, error)
	Release(ctx context.Context) (lab.Answer, error)
	Requeue(ctx context.Context, source, event string) (lab.Answer, error)
}

// The answers of a clerk.
var (
	claimed   = lab.Answer{Outcome: "claimed", Acked: true}
	idle      = lab.Answer{Outcome: "idle", Acked: true}
	failed    = lab.Answer{Outcome: "failed", Acked: true}
	dead      = lab.Answer{Outcome: "dead", Acked: true}
	requeued  = lab.Answer{Outcome: "requeued", Acked: true}
	released  = lab.Answer{Outcome: "released", Acked: true}
	leaseLost = lab.Answer{Outcome: "lease lost"}
)

func recovered(n int) lab.Answer {
	return lab.Answer{Outcome: fmt.Sprintf("recovered %d", n), Acked: true}
}

func works(s *lab.Session) *lab.Session     { return s.Do("work", clerk(Clerk.Work)) }
func recovers(s *lab.Session) *lab.Session  { return s.Do("recover", clerk(Clerk.Recover)) }
func claims(s *lab.Session) *lab.Session    { return s.Do("claim", clerk(Clerk.Claim)) }
func beats(s *lab.Session) *lab.Session     { return s.Do("heartbeat", clerk(Clerk.Heartbeat)) }
func completes(s *lab.Session) *lab.Session { return s.Do("complete", clerk(Clerk.Complete)) }
func fails(s *lab.Session) *lab.Session     { return s.Do("fail", clerk(Clerk.Fail)) }
func releases(s *lab.Session) *lab.Session  { return s.Do("release", clerk(Clerk.Release)) }

func clerk(do func(Clerk, context.Context) (lab.Answer, error)) func(
	context.Context, lab.Receiver) (lab.Answer, error) {
	return func(ctx context.Context, r lab.Receiver) (lab.Answer, error) {
		return do(r.(Clerk), ctx)
	}
}

// expire ends every lease now, by the database's clock: nobody has to wait for it.
func expire(l *lab.Lab) {
	l.SQL(`UPDATE webhook_receipt SET lease_expires_at = clock_timestamp()
 WHERE status = 'processing'`)
}

// due ends every backoff now.
func due(l *lab.Lab) {
	l.SQL(`UPDATE webhook_receipt SET next_attempt_at = clock_timestamp()
 WHERE next_attempt_at > clock_timestamp()`)
}

// Leased is the reference intake and worker over a pool of their own. Leases and backoffs are long:
// in a scenario they end when it says so.
func Leased(ctx context.Context, dsn string) (lab.Receiver, error) {
	pool, err := open(ctx, dsn)
	if err != nil {
		return nil, err
	}
	o := patient
	o.MaxAttempts = 3
	return &leasedReceiver{
		pool:   pool,
		intake: inbox.NewIntake(pool, o),
		worker: inbox.NewWorker(pool, Change, inbox.WorkerOptions{
			Options: o, Lease: time.Hour, Backoff: time.Hour, BackoffLimit: 2 * time.Hour,
		}),
	}, nil
}

type leasedReceiver struct {
	pool   *pgxpool.Pool
	intake *inbox.Intake
	worker *inbox.Worker
	lease  *inbox.Lease
}

func (c *leasedReceiver) Close() { c.pool.Close() }

func (c *leasedReceiver) Receive(ctx context.Context, d lab.Delivery) (lab.Answer, error) {
	return answer(c.intake.Receive(ctx, event(d)))
}

func (c *leasedReceiver) Work(ctx context.Context) (lab.Answer, error) {
	return leaseAnswer(c.worker.Work(ctx))
}

func (c *leasedReceiver) Recover(ctx context.Context) (lab.Answer, error) {
	n, err := c.worker.Recover(ctx, 100)
	if err != nil {
		return lab.Unknown, err
	}
	return recovered(n), nil
}

func (c *leasedReceiver) Claim(ctx context.Context) (lab.Answer, error) {
	lease, err := c.worker.Claim(ctx)
	switch {
	case err != nil:
		return lab.Unknown, err
	case lease == nil:
		return idle, nil
	}
	c.lease = lease
	return claimed, nil
}

func (c *leasedReceiver) Heartbeat(ctx context.Context) (lab.Answer, error) {
	return leaseAnswer("heartbeat", c.lease.Heartbeat(ctx))
}

func (c *leasedReceiver) Complete(ctx context.Context) (lab.Answer, error) {
	return leaseAnswer(c.lease.Complete(ctx, Change))
}

func (c *leasedReceiver) Fail(ctx context.Context) (lab.Answer, error) {
	return leaseAnswer(c.lease.Fail(ctx, errors.New("told to fail")))
}

func (c *leasedReceiver) Release(ctx context.Context) (lab.Answer, error) {
	return leaseAnswer(inbox.Released, c.lease.Release(ctx))
}

func (c *leasedReceiver) Requeue(ctx context.Context, source, event string) (lab.Answer, error) {
	err := inbox.Requeue(ctx, c.pool, source, event, "ann", "the shop was closed")
	return answer("requeued", err)
}

func leaseAnswer(o inbox.Outcome, err error) (lab.Answer, error) {
	if errors.Is(err, inbox.ErrLeaseLost) {
		return leaseLost, nil
	}
	return answer(o, err)
}

package inbox

import (
	"context"
	"time"
)

// WorkerOptions bound a worker's attempts. The zero value is for production.
type WorkerOptions struct {
	// Options bound each transaction. Timeout bounds each call of a lease, and so the change.
	Options
	// Name is what the receipts show of who worked on them. Default "worker".
	Name string
	// Lease is how long after a claim or heartbeat nobody else may take the receipt. It should
	// exceed Timeout, unless heartbeats are sent. Default 1 min.
	Lease time.Duration
	// Backoff is the wait after the first failure, doubled after each further one up to
	// BackoffLimit, and shortened by up to half at random. Defaults 10 s and 1 h: with ten attempts
	// a receipt that always fails is dead after about an hour.
	Backoff, BackoffLimit time.Duration
}

func (o WorkerOptions) withDefaults() WorkerOptions {
	o.Options = o.Options.withDefaults()
	if o.Name == "" {
		o.Name = "worker"
	}
	o.Lease = orDefault(o.Lease, time.Minute)
	o.Backoff = orDefault(o.Backoff, 10*time.Second)
	o.BackoffLimit = orDefault(o.BackoffLimit, time.Hour)
	return o
}

// Worker processes the receipts that an [Intake] stored, each under a lease. It takes them in the
// order in which they became due: new ones in the order received, failed ones after their backoff.
// It promises no order per object. It is safe for concurrent use if its DB is.
//
// While it runs a change it sends no heartbeat by itself: a [Pool] does.
type Worker struct {
	leases  *leases
	change  Change
	options WorkerOptions
}

var leasedReceipts = leasedTable{
	name: "webhook_receipt",
	key:  []string{"source", "event_id"},
	came: "received_at",
	held: "model = 'leased' AND status = 'processing'",
	data: "source, event_id, event_type, payload, raw_body, signature_headers",
	done: `status = 'processed',
    processed_at = clock_timestamp(),
    change = {1}`,
}

// NewWorker gives a worker on the table webhook_receipt.
func NewWorker(db DB, change Change, o WorkerOptions) *Worker {
	o = o.withDefaults()
	return &Worker{newLeases(db, o, leasedReceipts), change, o}
}

// Work claims one receipt and processes it: [Processed], [Ignored], [Failed], [Rejected], [Dead],
// or [Idle] if none is due. It fails with [LeaseLost] if the attempt took longer than the lease and
// another came, and without an outcome if the database is unavailable. If ctx ends during the
// change, the receipt is [Released].
func (w *Worker) Work(ctx context.Context) (Outcome, error) {
	lease, err := w.Claim(ctx)
	if err != nil {
		return "", err
	}
	if lease == nil {
		return Idle, nil
	}
	return lease.work(ctx, ctx)
}

// Claim takes the next receipt that is due. If none is, it recovers leases that have expired, and
// looks again. It gives nil and no error if there is nothing to do.
func (w *Worker) Claim(ctx context.Context) (*Lease, error) {
	var e Event
	var payload []byte
	h, found, failure := w.leases.next(ctx,
		&e.Source, &e.ID, &e.Type, &payload, &e.Raw, &e.Headers)
	if failure != nil || !found {
		return nil, asError(failure)
	}
	h.key = []any{e.Source, e.ID}
	e.Payload = payload
	return &Lease{held: h, worker: w, event: e}, nil
}

// Recover takes up to limit receipts away from workers whose leases have expired, and gives their
// number: they are pending again after a backoff, or dead if that was the last attempt.
// [Worker.Claim] does this when nothing is due; who claims under an unending backlog has to do it
// beside, as a [Pool] does.
func (w *Worker) Recover(ctx context.Context, limit int) (int, error) {
	recovered, failure := w.leases.recover(ctx, limit)
	return recovered, asError(failure)
}

// Lease is a claim on one receipt. Once the attempt is over, or another worker has the receipt,
// each method fails with [ErrLeaseLost] and changes nothing. It is safe for concurrent use if the
// DB is.
type Lease struct {
	held   held
	worker *Worker
	event  Event
}

// Event is what the receipt holds. Its payload is written as jsonb writes it; Raw is as received.
func (l *Lease) Event() Event { return l.event }

// Heartbeat makes the lease as long as a new one. It may revive an expired one that nobody took.
func (l *Lease) Heartbeat(ctx context.Context) error {
	return asError(l.held.heartbeat(ctx))
}

// Complete runs the change and finishes the attempt in one transaction: [Processed] or [Ignored].
// If the change fails, that is rolled back and recorded as [Lease.Fail] does.
func (l *Lease) Complete(ctx context.Context, change Change) (Outcome, error) {
	return l.completeWhile(ctx, ctx, change)
}

// completeWhile ends the change, and nothing else, when leased does.
func (l *Lease) completeWhile(ctx, leased context.Context, change Change) (Outcome, error) {
	outcome, failure := l.complete(ctx, leased, change)
	if failure == nil || !ofChange(failure) {
		return outcome.orLost(failure)
	}
	if ctx.Err() != nil { // the caller gave up, the change didn't
		failure.Reason = localReason(ctx.Err())
		return "", failure
	}
	return l.Fail(ctx, failure)
}

func (l *Lease) complete(
	ctx, leased context.Context, change Change,
) (outcome Outcome, failure *Error) {
	ctx, cancel := context.WithTimeout(ctx, l.worker.options.Timeout)
	defer cancel()
	changing, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(leased, stop)()
	failure = l.worker.leases.run(ctx, func(in statements) *Error {
		said, failure := apply(statements{changing, in.tx, in.fresh}, change, l.event)
		if failure != nil {
			return failure
		}
		outcome = Processed
		if said == ignored {
			outcome = Ignored
		}
		return l.held.finish(in, said)
	})
	return outcome, failure
}

// Fail ends the attempt with a reason: [Failed] until a backoff is over, [Dead] if it was the last,
// [Rejected] if the reason is [Permanent]. The receipt keeps the reason's text.
func (l *Lease) Fail(ctx context.Context, reason error) (Outcome, error) {
	outcome, failure := l.held.fail(ctx, reason)
	return outcome.orLost(failure)
}

// Release gives the receipt back unprocessed, into its place in the order received. The attempt
// stays counted, and the receipt gets another one for it.
func (l *Lease) Release(ctx context.Context) error {
	return asError(l.held.release(ctx))
}

func (o Outcome) orLost(failure *Error) (Outcome, error) {
	switch {
	case failure == nil:
		return o, nil
	case failure.Kind == ErrLeaseLost:
		return LeaseLost, failure
	default:
		return "", failure
	}
}

// work completes the attempt, or gives it back if ctx ends meanwhile.
func (l *Lease) work(ctx, leased context.Context) (Outcome, error) {
	outcome, err := l.completeWhile(ctx, leased, l.worker.change)
	if err == nil || outcome == LeaseLost || ctx.Err() == nil {
		return outcome, err
	}
	rest, cancel := lasting(ctx, recordBound)
	defer cancel()
	return Released.orLost(l.held.release(rest))
}

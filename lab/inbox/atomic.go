package inbox

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// Atomic processes each event once, in the transaction that accepts it: for changes that are short
// and happen in this database. It is safe for concurrent use if its DB is.
//
// What drives a failed event is the sender's next delivery of it, and nothing else.
type Atomic struct {
	receipts receipts
	change   Change
}

// NewAtomic gives a receiver on the tables webhook_receipt, webhook_delivery and webhook_refusal.
func NewAtomic(db DB, change Change, o Options) *Atomic {
	return &Atomic{newReceipts(db, o.withDefaults(), acceptAtomicSQL), change}
}

// Receive answers after COMMIT has returned: [Processed], [Ignored] or [Rejected] by this delivery,
// or [Duplicate] of one that came to such an end before. A copy in flight is waited for.
//
// If the change fails, everything is rolled back, and then the failure recorded: in the receipt
// unless a copy has processed the event meanwhile, which makes this delivery its duplicate. The
// error is an [*Error] of step "change", kind [ErrUnavailable] and reason "failed".
func (a *Atomic) Receive(ctx context.Context, e Event) (Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, a.receipts.options.Timeout)
	defer cancel()

	if failure := e.check(); failure != nil {
		return "", a.receipts.refuse(ctx, e, failure)
	}
	outcome, failure := a.process(ctx, e)
	if failure != nil && ofChange(failure) {
		outcome, failure = a.record(ctx, e, failure)
	}
	if failure != nil {
		return "", a.receipts.refuse(ctx, e, failure)
	}
	return outcome, nil
}

// process is the transaction of one delivery: claim, change, mark.
func (a *Atomic) process(ctx context.Context, e Event) (Outcome, *Error) {
	return a.taking(ctx, e, func(in statements) (Outcome, *Error) {
		said, failure := apply(in, a.change, e)
		if failure != nil {
			return "", failure
		}
		outcome := Processed
		if said == ignored {
			outcome = Ignored
		}
		return outcome, mark(in, markProcessedSQL, e, said)
	})
}

// recordBound is what the record of a failure may take when the delivery's own time is used up.
const recordBound = 2 * time.Second

// record takes the receipt once more, for the change that failed: only a receipt that nobody else
// has processed or rejected since can be taken.
func (a *Atomic) record(ctx context.Context, e Event, of *Error) (Outcome, *Error) {
	ctx, cancel := lasting(ctx, recordBound)
	defer cancel()
	reason := reasonText(of)
	outcome, failure := a.taking(ctx, e, func(in statements) (Outcome, *Error) {
		if isPermanent(of) {
			return Rejected, mark(in, markRejectedSQL, e, reason)
		}
		return Failed, mark(in, markFailedSQL, e, reason)
	})
	switch {
	case failure != nil && failure.Kind == ErrUnavailable:
		of.Unrecorded = failure
		return "", of
	case failure != nil:
		return "", failure
	case outcome == Failed:
		return "", of
	default:
		return outcome, nil
	}
}

// taking runs the work on the receipt that it took, and writes the delivery down with its outcome.
// What can't be taken is a duplicate.
func (a *Atomic) taking(
	ctx context.Context, e Event, work func(statements) (Outcome, *Error),
) (Outcome, *Error) {
	var outcome Outcome
	failure := a.receipts.run(ctx, func(in statements) *Error {
		isNew, taken, failure := a.take(in, e)
		if failure != nil {
			return failure
		}
		counted := repeated
		if isNew {
			counted = arrived
		}
		outcome = Duplicate
		if taken {
			outcome, failure = work(in)
		}
		if failure != nil {
			return failure
		}
		return recordDelivery(in, e, counted, string(outcome))
	})
	return outcome, failure
}

const acceptAtomicSQL = `INSERT INTO webhook_receipt
    (source, event_id, event_type, payload, raw_body, signature_headers,
     model, status, attempts, last_attempt_at, actor)
VALUES
    ($1, $2, $3, $4::jsonb, $5::bytea, $6::jsonb,
     'atomic', 'processing', 1, clock_timestamp(), 'atomic')
ON CONFLICT DO NOTHING
RETURNING attempts`

const retakeSQL = `UPDATE webhook_receipt
SET status = 'processing',
    attempts = attempts + 1,
    last_attempt_at = clock_timestamp(),
    actor = 'atomic'
WHERE source = $1
  AND event_id = $2
  AND model = 'atomic'
  AND status = 'failed' -- decided on the locked row: never a processed or a rejected one
RETURNING attempts`

// take makes the receipt this transaction's: a new one, or one whose last attempt failed.
func (a *Atomic) take(in statements, e Event) (isNew, taken bool, failure *Error) {
	if isNew, failure = a.receipts.accept(in, e); failure != nil || isNew {
		return isNew, isNew, failure
	}
	k, failure := a.receipts.lookUp(in, e)
	if failure != nil || k != (known{"atomic", "failed"}) {
		return false, false, failure
	}
	var attempts int
	err := in.row(retakeSQL, e.Source, e.ID).Scan(&attempts)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, false, nil
	}
	if err != nil {
		return false, false, failed("claim", err)
	}
	return false, true, nil
}

const markProcessedSQL = `UPDATE webhook_receipt
SET status = 'processed',
    processed_at = clock_timestamp(),
    change = $3,
    failure_reason = NULL
WHERE source = $1
  AND event_id = $2
RETURNING attempts`

const markFailedSQL = `UPDATE webhook_receipt
SET status = 'failed',
    failure_reason = $3
WHERE source = $1
  AND event_id = $2
RETURNING attempts`

const markRejectedSQL = `UPDATE webhook_receipt
SET status = 'rejected',
    failure_reason = $3
WHERE source = $1
  AND event_id = $2
RETURNING attempts`

// mark ends the attempt on a receipt that this transaction took.
func mark(in statements, sql string, e Event, what string) *Error {
	var attempts int
	if err := in.row(sql, e.Source, e.ID, what).Scan(&attempts); err != nil {
		return failed("mark", err)
	}
	return nil
}

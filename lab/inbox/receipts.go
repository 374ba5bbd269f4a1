package inbox

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5"
)

const (
	// Processed: the change is done and committed, with the receipt that says so.
	Processed Outcome = "processed"
	// Ignored: the receipt is processed, its type has no handler, nothing changed.
	Ignored Outcome = ignored
	// Accepted: the receipt is stored, a worker will process it.
	Accepted Outcome = "accepted"
	// Rejected: the change said that no retry can help. The event is never processed.
	Rejected Outcome = "rejected"
	// Failed: the attempt failed, the receipt says why, another will follow.
	Failed Outcome = "failed"
	// Dead: the last attempt that the receipt had failed. [Requeue] gives it more.
	Dead Outcome = "dead"
	// Released: the receipt was given back before its attempt came to an end.
	Released Outcome = "released"
	// Idle: there was nothing to claim.
	Idle Outcome = "idle"
	// LeaseLost comes with an error of kind [ErrLeaseLost].
	LeaseLost Outcome = "lease lost"
)

// receipts is what the two ways to accept an event have in common.
type receipts struct {
	options   Options
	run       runner
	acceptSQL string
	varying   string // as JSON
}

func newReceipts(db DB, o Options, acceptSQL string) receipts {
	varying, _ := json.Marshal(o.Varying) // of strings: can't fail
	return receipts{
		options: o, run: newTransactor(db, o).run, acceptSQL: acceptSQL, varying: string(varying),
	}
}

// accept stores the event as a new receipt, and reports whether it did. A rival that holds the
// event id in an open transaction is waited for.
func (r receipts) accept(in statements, e Event, more ...any) (bool, *Error) {
	var attempts int
	arguments := append([]any{
		e.Source, e.ID, e.Type, string(e.Payload), e.raw(), e.headers(),
	}, more...)
	err := in.row(r.acceptSQL, arguments...).Scan(&attempts)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, failed("claim", err)
	}
	return true, nil
}

const lookUpReceiptSQL = `SELECT model, status,
    event_type = $3
    AND without_varying(payload, $5::jsonb) = without_varying($4::jsonb, $5::jsonb)
FROM webhook_receipt
WHERE source = $1
  AND event_id = $2`

// known is a receipt that was there before its event came again.
type known struct{ model, status string }

// lookUp finds the receipt of an event that was not new, in a statement of its own, whose snapshot
// sees the rival that accept waited for. The same id with other content is a conflict.
func (r receipts) lookUp(in statements, e Event) (known, *Error) {
	var k known
	var same bool
	err := in.row(lookUpReceiptSQL, e.Source, e.ID, e.Type, string(e.Payload), r.varying).
		Scan(&k.model, &k.status, &same)
	switch {
	case errors.Is(err, pgx.ErrNoRows): // purged since the claim met it
		return k, &Error{
			Step: "look up", Kind: ErrUnavailable, Reason: "receipt_purged", retry: whole,
		}
	case err != nil:
		return k, failed("look up", err)
	case !same:
		return k, conflict(ErrReusedEventID, "reused_event_id", "webhook_receipt_event_once")
	default:
		return k, nil
	}
}

// refuse records a delivery that was at fault itself, and gives the failure with the reason why
// that could not be done, if it could not.
func (r receipts) refuse(ctx context.Context, e Event, failure *Error) *Error {
	if failure.Kind == ErrUnavailable {
		return failure
	}
	counted := conflicting
	if failure.Kind == ErrInvalid {
		counted = malformed
	}
	refused := refusal{e.Source, e.ID, failure.Reason, failure.Constraint, e.digest()}
	failure.Unrecorded = asError(r.run(ctx, func(in statements) *Error {
		if failure := refused.record(in); failure != nil {
			return failure
		}
		return recordDelivery(in, e, counted, failure.Reason)
	}))
	return failure
}

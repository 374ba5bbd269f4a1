package inbox

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// requeuedAttempts is how many more a requeued receipt gets.
const requeuedAttempts = 5

const requeueSQL = `UPDATE webhook_receipt
SET status = 'pending',
    max_attempts = attempts + $5,
    next_attempt_at = clock_timestamp(),
    failure_reason = 'requeued: ' || $4,
    actor = $3
WHERE source = $1
  AND event_id = $2
  AND status = 'dead'
RETURNING attempts`

// Requeue gives a dead receipt five more attempts, the first at once. Who asked for it and why
// stand in receipt_transition. It fails with [ErrInvalid] if the receipt isn't dead or not there.
func Requeue(ctx context.Context, db DB, source, eventID, by, why string) error {
	o := Options{}.withDefaults()
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	for _, given := range []struct{ name, value string }{{"by", by}, {"why", why}} {
		if given.value == "" {
			return &Error{Step: "requeue", Kind: ErrInvalid, Reason: given.name + "_empty"}
		}
	}
	return asError(newTransactor(db, o).run(ctx, func(in statements) *Error {
		var attempts int
		err := in.row(requeueSQL, source, eventID,
			printable(by, maxSourceBytes), printable(why, maxTextBytes-20), requeuedAttempts,
		).Scan(&attempts)
		if errors.Is(err, pgx.ErrNoRows) {
			return &Error{Step: "requeue", Kind: ErrInvalid, Reason: "receipt_not_dead"}
		}
		if err != nil {
			return failed("requeue", err)
		}
		return nil
	}))
}

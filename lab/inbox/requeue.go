package inbox

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// requeuedAttempts is how many more a requeued receipt gets.
const requeuedAttempts = 5

const requeueSQL = `UPDATE {table}
SET status = 'pending',
    max_attempts = attempts + $5,
    next_attempt_at = clock_timestamp(),
    failure_reason = 'requeued: ' || $4,
    actor = $3
WHERE ({key}) = ($1, $2)
  AND status = 'dead'
RETURNING attempts`

// Requeue gives a dead receipt five more attempts, the first at once. Who asked for it and why
// stand in receipt_transition. It fails with [ErrInvalid] if the receipt isn't dead or not there.
func Requeue(ctx context.Context, db DB, source, eventID, by, why string) error {
	return asError(leasedReceipts.requeue(ctx, db, source, eventID, by, why))
}

// RequeueMessage does the same for a dead message of the outbox. Who asked for it and why stand in
// its row until the next attempt.
func RequeueMessage(ctx context.Context, db DB, topic, key, by, why string) error {
	return asError(leasedMessages.requeue(ctx, db, topic, key, by, why))
}

// requeue takes the two parts of the key.
func (t leasedTable) requeue(
	ctx context.Context, db DB, part1, part2, by, why string,
) *Error {
	o := Options{}.withDefaults()
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	for _, given := range []struct{ name, value string }{{"by", by}, {"why", why}} {
		if given.value == "" {
			return &Error{Step: "requeue", Kind: ErrInvalid, Reason: given.name + "_empty"}
		}
	}
	sql := t.filler(WorkerOptions{})(requeueSQL)
	return newTransactor(db, o).run(ctx, func(in statements) *Error {
		var attempts int
		err := in.row(sql, part1, part2,
			printable(by, maxSourceBytes), printable(why, maxTextBytes-20), requeuedAttempts,
		).Scan(&attempts)
		if errors.Is(err, pgx.ErrNoRows) {
			return &Error{Step: "requeue", Kind: ErrInvalid, Reason: "not_dead"}
		}
		if err != nil {
			return failed("requeue", err)
		}
		return nil
	})
}

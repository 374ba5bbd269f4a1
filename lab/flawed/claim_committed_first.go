package flawed

import (
	"context"

	"github.com/jackc/pgx/v5"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// ClaimCommittedFirst commits its claim of the event and then makes the change. If that fails, the
// claim is still there: the sender comes again and is told that it is a duplicate.
func ClaimCommittedFirst(change inbox.Change) lab.NewReceiver {
	return handlerWith(change, func(h *handler) {
		h.process = func(ctx context.Context, e inbox.Event) (a lab.Answer, err error) {
			isNew, err := h.accept(ctx, h.pool, e)
			if err != nil || !isNew {
				return lab.Duplicate, err
			}
			err = pgx.BeginTxFunc(ctx, h.pool, readCommitted, func(tx pgx.Tx) error {
				done, err := h.finish(ctx, tx, e)
				a = done
				return err
			})
			return a, err
		}
		h.record = func(_ context.Context, _ inbox.Event, reason error) (lab.Answer, error) {
			return lab.Unknown, reason // the retry will see to it
		}
	})
}

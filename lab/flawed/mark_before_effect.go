package flawed

import (
	"context"

	"github.com/jackc/pgx/v5"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// MarkBeforeEffect commits the mark and then makes the change. What dies between the two never
// makes it: the retry is a duplicate.
func MarkBeforeEffect(change inbox.Change) lab.NewReceiver {
	return handlerWith(change, func(h *handler) {
		h.process = func(ctx context.Context, e inbox.Event) (lab.Answer, error) {
			isNew, err := h.accept(ctx, h.pool, e)
			if err != nil || !isNew {
				return lab.Duplicate, err
			}
			if err := mark(ctx, h.pool, e, "processed", "processed"); err != nil {
				return lab.Unknown, err
			}
			return done, pgx.BeginTxFunc(ctx, h.pool, readCommitted, func(tx pgx.Tx) error {
				return h.change(ctx, tx, e)
			})
		}
	})
}

package flawed

import (
	"context"

	"github.com/jackc/pgx/v5"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// HandlerErrorSwallowed takes a change that failed for one that is done. Nobody makes it again.
func HandlerErrorSwallowed(change inbox.Change) lab.NewReceiver {
	return handlerWith(change, func(h *handler) {
		h.change = func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
			_ = pgx.BeginFunc(ctx, tx, func(inner pgx.Tx) error { // up to a savepoint
				return change(ctx, inner, e)
			})
			return nil
		}
	})
}

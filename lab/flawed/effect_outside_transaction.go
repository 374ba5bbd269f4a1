package flawed

import (
	"context"

	"github.com/jackc/pgx/v5"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// EffectOutsideTransaction makes the change on a connection of its own, while the claim is still
// open. The claim that is rolled back leaves the change behind.
func EffectOutsideTransaction(change inbox.Change) lab.NewReceiver {
	return handlerWith(change, func(h *handler) {
		h.change = func(ctx context.Context, _ pgx.Tx, e inbox.Event) error {
			return pgx.BeginTxFunc(ctx, h.pool, readCommitted, func(other pgx.Tx) error {
				return change(ctx, other, e)
			})
		}
	})
}

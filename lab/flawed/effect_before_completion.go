package flawed

import (
	"context"

	"github.com/jackc/pgx/v5"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// EffectBeforeCompletion commits the change and then marks the receipt. What dies between the two
// makes the change again.
func EffectBeforeCompletion(change inbox.Change) lab.NewReceiver {
	return clerkWith(change, func(c *clerk) {
		c.complete = func(ctx context.Context) (lab.Answer, error) {
			e := c.held()
			err := pgx.BeginTxFunc(ctx, c.pool, readCommitted, func(tx pgx.Tx) error {
				return c.change(ctx, tx, e)
			})
			if err != nil {
				return lab.Unknown, err
			}
			_, err = c.pool.Exec(ctx, unfenced, e.Source, e.ID)
			return leased("processed", err)
		}
	})
}

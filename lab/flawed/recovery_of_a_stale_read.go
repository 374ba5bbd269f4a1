package flawed

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// RecoveryOfAStaleRead looks for expired leases and then gives back what it has found, by the key
// alone. A completion between the two is undone, and the change is made once more.
func RecoveryOfAStaleRead(change inbox.Change) lab.NewReceiver {
	return clerkWith(change, func(c *clerk) {
		c.recover = func(ctx context.Context) (lab.Answer, error) {
			rows, err := c.pool.Query(ctx, `
SELECT source || ' ' || event_id
  FROM webhook_receipt
 WHERE status = 'processing' AND lease_expires_at <= clock_timestamp()`)
			if err != nil {
				return lab.Unknown, err
			}
			expired, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil || len(expired) == 0 {
				return leased("recovered 0", err)
			}
			tag, err := c.pool.Exec(ctx, `
UPDATE webhook_receipt
   SET status = 'pending', lease_expires_at = NULL, next_attempt_at = clock_timestamp(),
       processed_at = NULL, change = NULL
 WHERE source || ' ' || event_id = ANY ($1)`, expired)
			return leased(inbox.Outcome(fmt.Sprintf("recovered %d", tag.RowsAffected())), err)
		}
	})
}

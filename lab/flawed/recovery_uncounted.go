package flawed

import (
	"context"
	"fmt"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// RecoveryUncounted takes the lost attempt back, as if it had not been. A payload that kills its
// process kills for ever.
func RecoveryUncounted(change inbox.Change) lab.NewReceiver {
	return clerkWith(change, func(c *clerk) {
		c.recover = func(ctx context.Context) (lab.Answer, error) {
			tag, err := c.pool.Exec(ctx, `
UPDATE webhook_receipt
   SET status = 'pending', attempts = attempts - 1, lease_expires_at = NULL,
       next_attempt_at = clock_timestamp()
 WHERE status = 'processing' AND lease_expires_at <= clock_timestamp()`)
			return leased(inbox.Outcome(fmt.Sprintf("recovered %d", tag.RowsAffected())), err)
		}
	})
}

package flawed

import (
	"context"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// ReleaseNotFenced gives back whatever is under way, also when another has it.
func ReleaseNotFenced(change inbox.Change) lab.NewReceiver {
	return clerkWith(change, func(c *clerk) {
		c.release = func(ctx context.Context) (lab.Answer, error) {
			e := c.held()
			_, err := c.pool.Exec(ctx, `
UPDATE webhook_receipt
   SET status = 'pending', failure_reason = 'released', lease_expires_at = NULL,
       max_attempts = max_attempts + 1, next_attempt_at = clock_timestamp()
 WHERE source = $1 AND event_id = $2 AND status = 'processing'`, e.Source, e.ID)
			return leased("released", err)
		}
	})
}

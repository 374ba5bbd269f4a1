package flawed

import (
	"context"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// FailureNotFenced fails whatever attempt is under way, also when it is another's.
func FailureNotFenced(change inbox.Change) lab.NewReceiver {
	return clerkWith(change, func(c *clerk) {
		c.fail = func(ctx context.Context) (lab.Answer, error) {
			e := c.held()
			_, err := c.pool.Exec(ctx, `
UPDATE webhook_receipt
   SET status = 'failed', failure_reason = 'told to fail', lease_expires_at = NULL,
       next_attempt_at = clock_timestamp() + interval '1 hour'
 WHERE source = $1 AND event_id = $2 AND status = 'processing'`, e.Source, e.ID)
			return leased("failed", err)
		}
	})
}

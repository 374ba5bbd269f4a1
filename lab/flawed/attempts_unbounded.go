package flawed

import (
	"context"
	"errors"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// AttemptsUnbounded gives a receipt one more attempt for each that fails. What can't succeed is
// tried for ever, and nobody is ever told.
func AttemptsUnbounded(change inbox.Change) lab.NewReceiver {
	return clerkWith(change, func(c *clerk) {
		complete := c.complete
		c.complete = func(ctx context.Context) (lab.Answer, error) {
			e := c.held()
			_, err := c.pool.Exec(ctx, `
UPDATE webhook_receipt
   SET max_attempts = greatest(max_attempts, attempts + 1)
 WHERE source = $1 AND event_id = $2 AND status = 'processing'`, e.Source, e.ID)
			a, failure := complete(ctx)
			return a, errors.Join(failure, err)
		}
	})
}

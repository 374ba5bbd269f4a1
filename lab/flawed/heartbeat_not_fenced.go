package flawed

import (
	"context"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// HeartbeatNotFenced prolongs whatever lease there is, also when it is another's.
func HeartbeatNotFenced(change inbox.Change) lab.NewReceiver {
	return clerkWith(change, func(c *clerk) {
		c.heartbeat = func(ctx context.Context) (lab.Answer, error) {
			e := c.held()
			_, err := c.pool.Exec(ctx, `
UPDATE webhook_receipt
   SET lease_expires_at = clock_timestamp() + interval '1 hour'
 WHERE source = $1 AND event_id = $2 AND status = 'processing'`, e.Source, e.ID)
			return leased("heartbeat", err)
		}
	})
}

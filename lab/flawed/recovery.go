package flawed

import (
	"context"
	"fmt"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// leaseNeverReclaimed leaves what a dead worker held in processing for ever.
func leaseNeverReclaimed(c *clerk) {
	c.recover = func(context.Context) (lab.Answer, error) { return leased("recovered 0", nil) }
}

// recoveryUncounted takes the lost attempt back, as if it had not been. A payload that kills its
// process kills for ever.
func recoveryUncounted(c *clerk) {
	c.recover = func(ctx context.Context) (lab.Answer, error) {
		tag, err := c.pool.Exec(ctx, `
UPDATE webhook_receipt
   SET status = 'pending', attempts = attempts - 1, lease_expires_at = NULL,
       next_attempt_at = clock_timestamp()
 WHERE status = 'processing' AND lease_expires_at <= clock_timestamp()`)
		return leased(inbox.Outcome(fmt.Sprintf("recovered %d", tag.RowsAffected())), err)
	}
}

package flawed

import (
	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// ClaimNewestFirst takes what came last. Under a backlog the first to come are the last to be seen,
// if ever.
func ClaimNewestFirst(change inbox.Change) lab.NewReceiver {
	return clerkWith(change, func(c *clerk) {
		c.claimInOne(`next_attempt_at DESC`, `FOR UPDATE SKIP LOCKED`)
	})
}

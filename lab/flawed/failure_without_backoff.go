package flawed

import (
	"time"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// FailureWithoutBackoff tries again at once. All attempts are used up in the second in which the
// system that they need is away.
func FailureWithoutBackoff(change inbox.Change) lab.NewReceiver {
	return clerkWith(change, func(c *clerk) {
		hasty := patiently
		hasty.Backoff, hasty.BackoffLimit = time.Nanosecond, time.Nanosecond
		c.worker = inbox.NewWorker(c.pool, change, hasty)
	})
}

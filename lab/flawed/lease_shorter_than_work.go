package flawed

import (
	"time"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// LeaseShorterThanWork gives an attempt more time than its lease. Whatever takes long is taken away
// before it is done, each time, until it is dead.
func LeaseShorterThanWork(change inbox.Change) lab.NewReceiver {
	return clerkWith(change, func(c *clerk) {
		hasty := patiently
		hasty.Lease = time.Microsecond
		c.worker = inbox.NewWorker(c.pool, change, hasty)
	})
}

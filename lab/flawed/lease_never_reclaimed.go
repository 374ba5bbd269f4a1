package flawed

import (
	"context"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// LeaseNeverReclaimed leaves what a dead worker held in processing for ever.
func LeaseNeverReclaimed(change inbox.Change) lab.NewReceiver {
	return clerkWith(change, func(c *clerk) {
		c.recover = func(context.Context) (lab.Answer, error) { return leased("recovered 0", nil) }
	})
}

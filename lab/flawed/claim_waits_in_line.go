package flawed

import (
	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// ClaimWaitsInLine locks the receipt that it takes, but doesn't skip what another has locked. All
// workers stand behind one, and find when it is over that it was the only one at work.
func ClaimWaitsInLine(change inbox.Change) lab.NewReceiver {
	return clerkWith(change, func(c *clerk) { c.claimInOne(`next_attempt_at`, `FOR UPDATE`) })
}

package flawed

import (
	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// PlainSelectClaim looks for a receipt that is due and then marks it. Every replica that looks at
// the same time finds the same.
func PlainSelectClaim(change inbox.Change) lab.NewReceiver {
	return clerkWith(change, func(c *clerk) { c.claimInTwo(``) })
}

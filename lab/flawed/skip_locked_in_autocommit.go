package flawed

import (
	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// SkipLockedInAutocommit locks the row in a statement of its own: the lock is gone with the
// statement, before the row is marked.
func SkipLockedInAutocommit(change inbox.Change) lab.NewReceiver {
	return clerkWith(change, func(c *clerk) { c.claimInTwo(`FOR UPDATE SKIP LOCKED`) })
}

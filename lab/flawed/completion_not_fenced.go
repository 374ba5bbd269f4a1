package flawed

import (
	"context"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// CompletionNotFenced marks the receipt by its key. A worker that was paused past its lease makes
// the change a second time.
func CompletionNotFenced(change inbox.Change) lab.NewReceiver {
	return clerkWith(change, func(c *clerk) {
		c.complete = func(ctx context.Context) (lab.Answer, error) {
			return c.completeWith(ctx, unfenced)
		}
	})
}

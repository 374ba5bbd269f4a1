package flawed

import (
	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// PermanentFailureRetried takes every failure for a passing one. The sender is asked again and again
// for what can never succeed, and gives up on the endpoint in the end.
func PermanentFailureRetried(change inbox.Change) lab.NewReceiver {
	return handlerWith(change, func(h *handler) {
		h.permanent = func(error) bool { return false }
	})
}

package flawed

import (
	"context"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// FailureIsFinal takes any receipt for a sign that the event is dealt with, also one that says that
// its change failed. A fault that would have passed loses the event.
func FailureIsFinal(change inbox.Change) lab.NewReceiver {
	return handlerWith(change, func(h *handler) {
		h.retake = func(context.Context, querier, inbox.Event) (bool, error) { return false, nil }
	})
}

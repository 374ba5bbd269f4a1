package flawed

import (
	"context"
	"errors"

	"webhooklab/lab/inbox"
	"webhooklab/lab/webhook"
)

// DoorDuplicateIsAnError tells the sender that it failed, because the row was there. The sender
// comes again for days.
func DoorDuplicateIsAnError(_ DB, r *webhook.Route) {
	sound := r.Receiver
	r.Receiver = receives(func(ctx context.Context, e webhook.Event) (inbox.Outcome, error) {
		o, err := sound.Receive(ctx, e)
		if err == nil && o == inbox.Duplicate {
			return "", errors.New("duplicate key")
		}
		return o, err
	})
}

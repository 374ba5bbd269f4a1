package flawed

import (
	"context"
	"errors"

	"webhooklab/lab/inbox"
	"webhooklab/lab/webhook"
)

// DoorSwallowsUnavailable logs the database's error and answers 200, so that the sender stops
// asking. The event is lost.
func DoorSwallowsUnavailable(_ DB, r *webhook.Route) {
	sound := r.Receiver
	r.Receiver = receives(func(ctx context.Context, e webhook.Event) (inbox.Outcome, error) {
		o, err := sound.Receive(ctx, e)
		if errors.Is(err, inbox.ErrUnavailable) {
			return inbox.Applied, nil
		}
		return o, err
	})
}

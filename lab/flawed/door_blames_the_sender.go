package flawed

import (
	"context"
	"errors"
	"fmt"

	"webhooklab/lab/inbox"
	"webhooklab/lab/webhook"
)

// DoorBlamesTheSender answers every failure by 400. A sender that is told so for a fault of the
// database's never comes again.
func DoorBlamesTheSender(_ DB, r *webhook.Route) {
	sound := r.Receiver
	r.Receiver = receives(func(ctx context.Context, e webhook.Event) (inbox.Outcome, error) {
		o, err := sound.Receive(ctx, e)
		if errors.Is(err, inbox.ErrUnavailable) {
			return "", fmt.Errorf("%w: it could not be stored", inbox.ErrInvalid)
		}
		return o, err
	})
}

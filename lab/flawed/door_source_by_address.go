package flawed

import (
	"context"

	"webhooklab/lab/inbox"
	"webhooklab/lab/webhook"
)

// DoorSourceByAddress takes each address for a sender of its own. While a provider moves from one to
// the other and delivers to both, each event counts twice.
func DoorSourceByAddress(_ DB, r *webhook.Route) {
	sound, path := r.Receiver, r.Path
	r.Receiver = receives(func(ctx context.Context, e webhook.Event) (inbox.Outcome, error) {
		e.Source = path + "@" + e.Source
		return sound.Receive(ctx, e)
	})
}

package flawed

import (
	"context"
	"encoding/json"

	"webhooklab/lab/inbox"
	"webhooklab/lab/webhook"
)

// DoorSourceFromBody believes what a body says of its own tenant. A sender with a secret of its own
// writes into the events of any other.
func DoorSourceFromBody(_ DB, r *webhook.Route) {
	sound := r.Receiver
	r.Receiver = receives(func(ctx context.Context, e webhook.Event) (inbox.Outcome, error) {
		var said struct {
			Source string `json:"source"`
		}
		if json.Unmarshal(e.Raw, &said) == nil && said.Source != "" {
			e.Source = said.Source
		}
		return sound.Receive(ctx, e)
	})
}

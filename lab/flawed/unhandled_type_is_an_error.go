package flawed

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// UnhandledTypeIsAnError fails where there is nothing to do. A provider that adds a type of event
// sends each of them for days.
func UnhandledTypeIsAnError(change inbox.Change) lab.NewReceiver {
	return handlerWith(change, func(h *handler) {
		h.change = func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
			err := change(ctx, tx, e)
			if errors.Is(err, inbox.ErrIgnored) {
				return errors.New("no handler for " + e.Type)
			}
			return err
		}
	})
}

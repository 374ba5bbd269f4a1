package flawed

import (
	"context"

	"webhooklab/lab/inbox"
	"webhooklab/lab/webhook"
)

// A DoorSin changes one route of an HTTP door that is sound without it.
type DoorSin func(db DB, r *webhook.Route)

// DB is the door's database.
type DB interface {
	inbox.DB
	querier
}

type receives func(context.Context, webhook.Event) (inbox.Outcome, error)

func (f receives) Receive(ctx context.Context, e webhook.Event) (inbox.Outcome, error) {
	return f(ctx, e)
}

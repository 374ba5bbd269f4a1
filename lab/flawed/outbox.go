package flawed

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// Outbox is every sin against the contract of the outbox.
var Outbox = []Sin{
	{"outbox_row_after_commit", "outbox_crash_before_enqueue", OutboxRowAfterCommit},
	{"outbox_mark_not_fenced", "outbox_paused_dispatcher", OutboxMarkNotFenced},
	{"outbox_marked_before_send", "outbox_crash_before_mark", OutboxMarkedBeforeSend},
}

// OutboxRowAfterCommit commits the change and then enqueues its message. What dies between the two
// leaves a change that nobody outside ever hears of.
func OutboxRowAfterCommit(ctx context.Context, dsn string) (lab.Receiver, error) {
	pool, err := open(ctx, dsn)
	return rowAfterCommit{pool}, err
}

type rowAfterCommit struct{ *pgxpool.Pool }

func (r rowAfterCommit) Receive(ctx context.Context, d lab.Delivery) (lab.Answer, error) {
	_, err := r.Exec(ctx, `INSERT INTO effect (source, event_id, note) VALUES ($1, $2, $3)`,
		d.Source, d.EventID, d.Type)
	if err != nil {
		return lab.Unknown, err
	}
	err = pgx.BeginFunc(ctx, r.Pool, func(tx pgx.Tx) error {
		return inbox.Enqueue(ctx, tx, inbox.OutboxMessage{
			Topic: d.Source, Key: d.EventID, Payload: d.Payload,
		})
	})
	return lab.Done, err
}

package flawed

import (
	"context"

	"github.com/jackc/pgx/v5"

	"webhooklab/lab"
)

// OutboxSentBeforeCommit tells the world of a change while its transaction is still open. What is
// rolled back was told all the same.
var OutboxSentBeforeCommit = posterWith(func(p *poster) {
	p.receive = func(ctx context.Context, d lab.Delivery) error {
		return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
			if err := makeChange(ctx, tx, d); err != nil {
				return err
			}
			if err := p.send(ctx, message{topic: d.Source, key: d.EventID}); err != nil {
				return err
			}
			return enqueue(ctx, tx, d)
		})
	}
})

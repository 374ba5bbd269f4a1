package flawed

import (
	"context"

	"github.com/jackc/pgx/v5"

	"webhooklab/lab"
)

// OutboxRowAfterCommit commits the change and then enqueues its message. What dies between the two
// leaves a change that nobody outside ever hears of.
var OutboxRowAfterCommit = posterWith(func(p *poster) {
	p.receive = func(ctx context.Context, d lab.Delivery) error {
		err := pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
			return makeChange(ctx, tx, d)
		})
		if err != nil {
			return err
		}
		return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error { return enqueue(ctx, tx, d) })
	}
})

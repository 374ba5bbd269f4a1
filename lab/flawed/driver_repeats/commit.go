package main

import (
	"context"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// byCommit makes the change in a transaction, and makes it again only where the driver says that
// nothing of the failed statement can have reached the server.
func byCommit(ctx context.Context, source, event, note string) error {
	err := transaction(ctx, source, event, note)
	if err != nil && pgconn.SafeToRetry(err) {
		err = transaction(ctx, source, event, note)
	}
	return err
}

func transaction(ctx context.Context, source, event, note string) error {
	conn, err := pgx.Connect(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO effect (source, event_id, note) VALUES ($1, $2, $3)`,
			source, event, note)
		return err
	})
}

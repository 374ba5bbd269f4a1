package flawed

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"webhooklab/lab/postgres"
)

// open makes the pool of one receiver.
func open(ctx context.Context, dsn string) (*pgxpool.Pool, error) {
	cfg, err := postgres.ParsePoolConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("flawed receiver: %w", err)
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("flawed receiver: %w", err)
	}
	return pool, nil
}

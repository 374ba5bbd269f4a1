package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"webhooklab/lab/postgres"
)

// A blocker holds a table for the lab, also against readers, in a transaction of its own: the observer's
// connection must stay free for questions.
type blocker struct{ conn *pgx.Conn }

func (l *Lab) blocker() (*blocker, error) {
	cfg, err := postgres.ParseConfig(l.cfg.DSN)
	if err != nil {
		return nil, fmt.Errorf("lab: blocker: %w", err)
	}
	cfg.RuntimeParams["application_name"] = "webhooklab blocker"
	conn, err := pgx.ConnectConfig(l.ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("lab: blocker: %w", err)
	}
	return &blocker{conn}, nil
}

// errNoTable: a view, a function, a name within the statement.
var errNoTable = errors.New("no table")

// lock waits its turn: autovacuum may be at the table.
func (b *blocker) lock(ctx context.Context, table string) error {
	_, err := b.conn.Exec(ctx, `BEGIN; SET LOCAL lock_timeout = '10s'; LOCK TABLE `+
		pgx.Identifier{table}.Sanitize()+` IN ACCESS EXCLUSIVE MODE`)
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) &&
		(pg.Code == "42P01" || pg.Code == "42809") {
		return errNoTable
	}
	if err != nil {
		return fmt.Errorf("lab: lock the table %s: %w", table, err)
	}
	return nil
}

// close lets go of the lock before it returns.
func (b *blocker) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, _ = b.conn.Exec(ctx, `ROLLBACK`) // a connection that is dead holds nothing
	_ = b.conn.Close(ctx)
}

package webhook

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"webhooklab/lab/inbox"
)

// Acquire gives a pool whose connections are waited for no longer than wait, 2 s if that is zero or
// negative: once they are all in use, further deliveries fail fast as unavailable and come again,
// instead of standing in a line until their senders have left.
func Acquire(pool *pgxpool.Pool, wait time.Duration) inbox.DB {
	return impatient{pool, orDefault(wait, 2*time.Second)}
}

type impatient struct {
	pool *pgxpool.Pool
	wait time.Duration
}

// BeginTx is [inbox.DB]'s.
func (p impatient) BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error) {
	waiting, cancel := context.WithTimeout(ctx, p.wait)
	defer cancel()
	conn, err := p.pool.Acquire(waiting)
	if err != nil {
		return nil, err
	}
	tx, err := conn.BeginTx(ctx, options)
	if err != nil {
		conn.Release()
		return nil, err
	}
	return &pooledTx{tx, conn}, nil
}

// pooledTx gives its connection back when it ends.
type pooledTx struct {
	pgx.Tx
	conn *pgxpool.Conn
}

// Commit is [pgx.Tx]'s.
func (t *pooledTx) Commit(ctx context.Context) error {
	defer t.release()
	return t.Tx.Commit(ctx)
}

// Rollback is [pgx.Tx]'s.
func (t *pooledTx) Rollback(ctx context.Context) error {
	defer t.release()
	return t.Tx.Rollback(ctx)
}

func (t *pooledTx) release() {
	if t.conn != nil {
		t.conn.Release()
		t.conn = nil
	}
}

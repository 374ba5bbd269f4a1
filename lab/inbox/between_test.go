package inbox_test

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"webhooklab/lab/inbox"
)

// between is a DB that runs a hook before each statement whose SQL starts with one prefix, and
// before COMMIT. It stands in for everything that can happen between two commands.
type between struct {
	inbox.DB
	prefix string
	hook   func(tx pgx.Tx)
}

func (b between) BeginTx(ctx context.Context, o pgx.TxOptions) (pgx.Tx, error) {
	tx, err := b.DB.BeginTx(ctx, o)
	if err != nil {
		return nil, err
	}
	return betweenTx{tx, b}, nil
}

type betweenTx struct {
	pgx.Tx
	between between
}

func (tx betweenTx) QueryRow(ctx context.Context, sql string, arguments ...any) pgx.Row {
	tx.before(sql)
	return tx.Tx.QueryRow(ctx, sql, arguments...)
}

func (tx betweenTx) Exec(
	ctx context.Context, sql string, arguments ...any,
) (pgconn.CommandTag, error) {
	tx.before(sql)
	return tx.Tx.Exec(ctx, sql, arguments...)
}

func (tx betweenTx) Commit(ctx context.Context) error {
	tx.before("COMMIT")
	return tx.Tx.Commit(ctx)
}

func (tx betweenTx) before(sql string) {
	if strings.HasPrefix(sql, tx.between.prefix) {
		tx.between.hook(tx.Tx)
	}
}

// errorCounts is a tracer that counts the errors of one SQLSTATE, to prove that a fault fired.
type errorCounts struct {
	sqlstate string
	seen     atomic.Int64
}

func (c *errorCounts) TraceQueryStart(
	ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData,
) context.Context {
	return ctx
}

func (c *errorCounts) TraceQueryEnd(_ context.Context, _ *pgx.Conn, d pgx.TraceQueryEndData) {
	if serverError(d.Err).Code == c.sqlstate {
		c.seen.Add(1)
	}
}

package inbox

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
)

// DB is what a receiver needs: a *pgxpool.Pool, or a *pgx.Conn that nobody else uses meanwhile.
type DB interface {
	BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error)
}

// transactor runs units of work, each in a transaction of its own that is over, with its
// connection given back, when run returns.
type transactor struct {
	db       DB
	begin    pgx.TxOptions
	attempts int
}

// runner is the run of a transactor.
type runner func(ctx context.Context, work func(statements) *Error) *Error

func newTransactor(db DB, o Options) transactor {
	return transactor{db: db, begin: o.transaction(), attempts: o.Attempts}
}

// with adds commands to the beginning of each transaction, in the same message.
func (t transactor) with(commands string) transactor {
	t.begin.BeginQuery += "; " + commands
	return t
}

// run tries the work until it is committed, fails for good, or its attempts are used up.
// A transaction is tried again only when the server has said that it rolled it back.
func (t transactor) run(ctx context.Context, work func(statements) *Error) *Error {
	fresh := false
	for tried := 1; ; tried++ {
		failure := t.once(ctx, fresh, work)
		switch {
		case failure == nil:
			return nil
		case failure.retry == freshStatement && !fresh:
			fresh = true
		case failure.retry == whole && tried < t.attempts && pause(ctx, tried):
		default:
			return failure
		}
	}
}

func (t transactor) once(ctx context.Context, fresh bool, work func(statements) *Error) *Error {
	tx, err := t.db.BeginTx(ctx, t.begin)
	if err != nil {
		return failed("begin", err)
	}
	defer rollback(ctx, tx) // without effect after Commit

	if failure := work(statements{ctx, tx, fresh}); failure != nil {
		return failure
	}
	// Commit fails with pgx.ErrTxCommitRollback where the server answered COMMIT by ROLLBACK.
	if err := tx.Commit(ctx); err != nil {
		return failed("commit", err)
	}
	return nil
}

// rollback ends the transaction also when ctx is over already: then within a second, or by closing
// the connection.
func rollback(ctx context.Context, tx pgx.Tx) {
	ctx, cancel := lasting(ctx, time.Second)
	defer cancel()
	// A rollback that fails closes the connection, which rolls back as well.
	_ = tx.Rollback(ctx)
}

// lasting gives ctx, or if that is over or nearly so, another second or more to leave things in
// order.
func lasting(ctx context.Context, more time.Duration) (context.Context, context.CancelFunc) {
	deadline, bounded := ctx.Deadline()
	if ctx.Err() == nil && (!bounded || time.Until(deadline) >= more) {
		return ctx, func() {}
	}
	return context.WithTimeout(context.WithoutCancel(ctx), more)
}

// pause waits between 10 and 20 ms, twice that after each further try, so that two rivals part. It
// reports false if ctx ended first.
func pause(ctx context.Context, tried int) bool {
	base := 10 * time.Millisecond << min(tried-1, 5)
	timer := time.NewTimer(base + rand.N(base))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// statements are the commands of one open transaction.
type statements struct {
	ctx   context.Context
	tx    pgx.Tx
	fresh bool
}

// row asks for one row. Fresh statements are parsed and planned for this call alone, whatever the
// connection has prepared before.
func (s statements) row(sql string, arguments ...any) pgx.Row {
	if s.fresh {
		arguments = append([]any{pgx.QueryExecModeDescribeExec}, arguments...)
	}
	return s.tx.QueryRow(s.ctx, sql, arguments...)
}

// count runs a statement and gives the number of rows that it changed.
func (s statements) count(sql string, arguments ...any) (int, error) {
	if s.fresh {
		arguments = append([]any{pgx.QueryExecModeDescribeExec}, arguments...)
	}
	tag, err := s.tx.Exec(s.ctx, sql, arguments...)
	return int(tag.RowsAffected()), err
}

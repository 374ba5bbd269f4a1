package flawed

import (
	"context"

	"github.com/jackc/pgx/v5"

	"webhooklab/lab"
)

// LockOfASession guards each event by an advisory lock of a session, behind a pool that gives each
// transaction whichever connection it has. The lock is taken on one and given back on another, so
// it stays, and every copy waits for it until somebody restarts the pool.
var LockOfASession = with(func(s *steps) {
	s.receive = func(ctx context.Context, r *receiver, d lab.Delivery) (a lab.Answer, err error) {
		const bounded = `SELECT set_config('lock_timeout', '300ms', false), pg_advisory_lock`
		const key = `(hashtextextended($1 || ' ' || $2, 0))`
		err = pgx.BeginTxFunc(ctx, r.pool, readCommitted, func(tx pgx.Tx) error {
			_, err := r.pool.Exec(ctx, bounded+key, d.Source, d.EventID)
			if err == nil {
				a, err = r.accept(ctx, tx, d)
			}
			return err
		})
		if err != nil {
			return lab.Unknown, err
		}
		_, err = r.pool.Exec(ctx, `SELECT pg_advisory_unlock`+key, d.Source, d.EventID)
		return a, err
	}
})

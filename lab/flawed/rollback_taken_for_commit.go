package flawed

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"webhooklab/lab"
)

// RollbackTakenForCommit logs what goes wrong with the projection and goes on. PostgreSQL has ended
// the transaction by then: it answers COMMIT by ROLLBACK and calls that no error.
var RollbackTakenForCommit = with(func(s *steps) {
	s.advance = func(ctx context.Context, q querier, d lab.Delivery) (lab.Answer, error) {
		if a, err := advance(ctx, q, d); err == nil {
			return a, nil
		}
		return lab.Applied, nil // the projection will catch up
	}
	s.receive = func(ctx context.Context, r *receiver, d lab.Delivery) (lab.Answer, error) {
		a, err := oneTransaction(readCommitted)(ctx, r, d)
		if errors.Is(err, pgx.ErrTxCommitRollback) { // other drivers have no such error
			return lab.Applied, nil
		}
		return a, err
	}
})

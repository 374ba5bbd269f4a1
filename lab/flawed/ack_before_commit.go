package flawed

import (
	"context"

	"webhooklab/lab"
)

// AckBeforeCommit has made up its answer when it commits, and does not look at what came of that.
var AckBeforeCommit = with(func(s *steps) {
	s.receive = func(ctx context.Context, r *receiver, d lab.Delivery) (lab.Answer, error) {
		tx, err := r.pool.BeginTx(ctx, readCommitted)
		if err != nil {
			return lab.Unknown, err
		}
		defer tx.Commit(ctx) //nolint:errcheck // this is the sin
		return r.accept(ctx, tx, d)
	}
})

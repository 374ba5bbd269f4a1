package flawed

import (
	"context"
	"crypto/sha256"
	"errors"

	"github.com/jackc/pgx/v5"

	"webhooklab/lab"
)

// RefusalRolledBack writes down what it refuses in the very transaction that it then rolls back.
// Nobody who looks into the sender's conflicts finds a trace of them.
var RefusalRolledBack = with(func(s *steps) {
	s.receive = func(ctx context.Context, r *receiver, d lab.Delivery) (a lab.Answer, err error) {
		err = pgx.BeginTxFunc(ctx, r.pool, readCommitted, func(tx pgx.Tx) error {
			if a, err = r.accept(ctx, tx, d); err != nil || a.Acked {
				return err
			}
			return errors.Join(errRefused, refuse(ctx, tx, d, a))
		})
		if errors.Is(err, errRefused) {
			return a, nil
		}
		if err != nil {
			return lab.Unknown, err
		}
		return a, nil
	}
})

// errRefused rolls the transaction back.
var errRefused = errors.New("the delivery is refused")

func refuse(ctx context.Context, tx pgx.Tx, d lab.Delivery, a lab.Answer) error {
	digest := sha256.Sum256(d.Snapshot)
	_, err := tx.Exec(ctx, `
INSERT INTO webhook_refusal (source, event_id, reason, digest)
VALUES ($1, $2, $3, $4)`,
		d.Source, d.EventID, a.Outcome, digest[:])
	return err
}

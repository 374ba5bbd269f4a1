package flawed

import (
	"context"

	"webhooklab/lab"
)

// ViolationCaughtInTransaction inserts without a conflict clause, catches the unique violation and
// goes on to look the event up. The transaction is aborted by then, and whatever follows is lost.
var ViolationCaughtInTransaction = with(func(s *steps) {
	s.claim = func(ctx context.Context, q querier, d lab.Delivery) (bool, error) {
		isNew, err := found(q.QueryRow(ctx, `
INSERT INTO webhook_inbox (source, event_id, object_id, revision, snapshot)
VALUES ($1, $2, $3, $4, $5::jsonb)
RETURNING true`,
			d.Source, d.EventID, d.ObjectID, d.Revision, string(d.Snapshot)))
		if sqlState(err) == "23505" {
			return false, nil
		}
		return isNew, err
	}
})

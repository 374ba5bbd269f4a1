package flawed

import (
	"context"

	"webhooklab/lab"
)

// ConflictTargetEventID names one unique constraint in its conflict clause. The other one is not
// covered: a second event for a revision ends in a unique violation, and is sent again for days.
var ConflictTargetEventID = with(func(s *steps) {
	s.claim = func(ctx context.Context, q querier, d lab.Delivery) (bool, error) {
		return found(q.QueryRow(ctx, `
INSERT INTO webhook_inbox (source, event_id, object_id, revision, snapshot)
VALUES ($1, $2, $3, $4, $5::jsonb)
    ON CONFLICT (source, event_id) DO NOTHING
RETURNING true`,
			d.Source, d.EventID, d.ObjectID, d.Revision, string(d.Snapshot)))
	}
})

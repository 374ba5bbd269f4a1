package flawed

import (
	"context"

	"webhooklab/lab"
)

// CheckThenInsert looks whether the event is there and inserts it if not. Two copies in flight
// pass the check together, and one of them runs into the key.
var CheckThenInsert = with(func(s *steps) {
	s.claim = func(ctx context.Context, q querier, d lab.Delivery) (bool, error) {
		known, err := found(q.QueryRow(ctx, `
SELECT true FROM webhook_inbox
 WHERE source = $1 AND (event_id = $2 OR (object_id = $3 AND revision = $4))`,
			d.Source, d.EventID, d.ObjectID, d.Revision))
		if err != nil || known {
			return false, err
		}
		return found(q.QueryRow(ctx, `
INSERT INTO webhook_inbox (source, event_id, object_id, revision, snapshot)
VALUES ($1, $2, $3, $4, $5::jsonb)
RETURNING true`,
			d.Source, d.EventID, d.ObjectID, d.Revision, string(d.Snapshot)))
	}
})

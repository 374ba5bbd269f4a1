package flawed

import (
	"context"

	"webhooklab/lab"
)

// KeyWithoutSource takes an event id for unique in the world. Two tenants count from one.
var KeyWithoutSource = with(func(s *steps) {
	s.claim = func(ctx context.Context, q querier, d lab.Delivery) (bool, error) {
		return found(q.QueryRow(ctx, `
INSERT INTO webhook_inbox (source, event_id, object_id, revision, snapshot)
SELECT $1, $2, $3, $4, $5::jsonb
 WHERE NOT EXISTS (SELECT FROM webhook_inbox WHERE event_id = $2)
    ON CONFLICT DO NOTHING
RETURNING true`,
			d.Source, d.EventID, d.ObjectID, d.Revision, string(d.Snapshot)))
	}
	s.lookUp = func(ctx context.Context, q querier, d lab.Delivery) (lab.Answer, error) {
		var same bool
		err := q.QueryRow(ctx, `
SELECT object_id = $2 AND revision = $3 AND snapshot = $4::jsonb
  FROM webhook_inbox
 WHERE event_id = $1
 LIMIT 1`,
			d.EventID, d.ObjectID, d.Revision, string(d.Snapshot)).Scan(&same)
		if err == nil && !same {
			return lab.ReusedEventID, nil
		}
		return lab.Duplicate, err
	}
})

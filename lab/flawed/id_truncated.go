package flawed

import (
	"context"

	"webhooklab/lab"
)

// IDTruncated makes an event id fit its column by a cast, which cuts without a word. Long ids that
// begin alike are one to it.
var IDTruncated = with(func(s *steps) {
	s.claim = func(ctx context.Context, q querier, d lab.Delivery) (bool, error) {
		return found(q.QueryRow(ctx, `
INSERT INTO webhook_inbox (source, event_id, object_id, revision, snapshot)
VALUES ($1, $2::varchar(255), $3, $4, $5::jsonb)
    ON CONFLICT DO NOTHING
RETURNING true`,
			d.Source, d.EventID, d.ObjectID, d.Revision, string(d.Snapshot)))
	}
	s.lookUp = func(ctx context.Context, q querier, d lab.Delivery) (lab.Answer, error) {
		d.EventID = d.EventID[:min(len(d.EventID), 255)]
		return lookUp(ctx, q, d)
	}
})

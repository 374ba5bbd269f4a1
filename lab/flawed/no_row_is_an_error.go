package flawed

import (
	"context"

	"webhooklab/lab"
)

// NoRowIsAnError asks its insert for the new row and takes it for a failure that there is none. Each
// retry of an accepted event fails again.
var NoRowIsAnError = with(func(s *steps) {
	s.claim = func(ctx context.Context, q querier, d lab.Delivery) (isNew bool, err error) {
		err = q.QueryRow(ctx, `
INSERT INTO webhook_inbox (source, event_id, object_id, revision, snapshot)
VALUES ($1, $2, $3, $4, $5::jsonb)
    ON CONFLICT DO NOTHING
RETURNING true`,
			d.Source, d.EventID, d.ObjectID, d.Revision, string(d.Snapshot)).Scan(&isNew)
		return isNew, err
	}
})

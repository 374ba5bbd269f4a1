package flawed

import (
	"context"

	"webhooklab/lab"
)

// InsertOrSelect saves a round trip: it inserts and looks up in one statement. That statement's
// snapshot is older than the wait inside it, so it sees neither its own row nor its rival's.
var InsertOrSelect = with(func(s *steps) {
	s.receive = func(ctx context.Context, r *receiver, d lab.Delivery) (lab.Answer, error) {
		tx, err := r.pool.BeginTx(ctx, readCommitted)
		if err != nil {
			return lab.Unknown, err
		}
		defer tx.Rollback(ctx) //nolint:errcheck // over after Commit
		a, err := insertOrSelect(ctx, tx, r, d)
		if err != nil {
			return lab.Unknown, err
		}
		return a, tx.Commit(ctx)
	}
})

func insertOrSelect(
	ctx context.Context, q querier, r *receiver, d lab.Delivery,
) (lab.Answer, error) {
	var isNew, same bool
	err := q.QueryRow(ctx, `
WITH claimed AS (
	INSERT INTO webhook_inbox (source, event_id, object_id, revision, snapshot)
	VALUES ($1, $2, $3, $4, $5::jsonb)
	    ON CONFLICT DO NOTHING
	RETURNING event_id
)
SELECT true, true FROM claimed
 UNION ALL
SELECT false, object_id = $3 AND revision = $4 AND snapshot = $5::jsonb
  FROM webhook_inbox
 WHERE source = $1 AND event_id = $2`,
		d.Source, d.EventID, d.ObjectID, d.Revision, string(d.Snapshot)).Scan(&isNew, &same)
	switch {
	case err != nil: // no row counts as an error here, as it does in the field
		return lab.Unknown, err
	case isNew:
		return r.advance(ctx, q, d)
	case !same:
		return lab.ReusedEventID, nil
	}
	return lab.Duplicate, nil
}

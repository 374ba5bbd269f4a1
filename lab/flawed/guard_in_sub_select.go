package flawed

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"webhooklab/lab"
)

// GuardInSubSelect asks for the stored revision in a sub-select of the statement that overwrites it.
// A guard on the row itself is looked at again once the row's lock is had; a sub-select is not.
var GuardInSubSelect = with(func(s *steps) {
	s.receive = func(ctx context.Context, r *receiver, d lab.Delivery) (lab.Answer, error) {
		var advanced bool
		err := r.pool.QueryRow(ctx, `
WITH claimed AS (
	INSERT INTO webhook_inbox (source, event_id, object_id, revision, snapshot)
	VALUES ($1, $2, $3, $4, $5::jsonb)
	    ON CONFLICT DO NOTHING
	RETURNING source, object_id, revision, snapshot
), advanced AS (
	INSERT INTO object_state AS state
	SELECT * FROM claimed
	    ON CONFLICT (source, object_id) DO UPDATE
	   SET revision = excluded.revision, snapshot = excluded.snapshot
	 WHERE excluded.revision > (
	SELECT revision FROM object_state WHERE source = $1 AND object_id = $3
	   )
	RETURNING revision
)
SELECT EXISTS (SELECT FROM advanced) FROM claimed`,
			d.Source, d.EventID, d.ObjectID, d.Revision, string(d.Snapshot)).Scan(&advanced)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return r.lookUp(ctx, r.pool, d)
		case err != nil:
			return lab.Unknown, err
		case !advanced:
			return lab.Stale, nil
		}
		return lab.Applied, nil
	}
})

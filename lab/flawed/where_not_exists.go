package flawed

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"webhooklab/lab"
)

// WhereNotExists looks and inserts in one statement, which seems to leave no room between the two.
// There is: the look is taken before the row is written, and nobody's lock covers what is not there.
var WhereNotExists = with(func(s *steps) {
	s.receive = func(ctx context.Context, r *receiver, d lab.Delivery) (lab.Answer, error) {
		var advanced bool
		err := r.pool.QueryRow(ctx, `
WITH claimed AS (
	INSERT INTO webhook_inbox (source, event_id, object_id, revision, snapshot)
	SELECT $1, $2, $3, $4, $5::jsonb
	 WHERE NOT EXISTS (SELECT FROM webhook_inbox WHERE source = $1 AND event_id = $2)
	   AND NOT EXISTS (
	SELECT FROM webhook_inbox WHERE source = $1 AND object_id = $3 AND revision = $4
	   )
	RETURNING source, object_id, revision, snapshot
), advanced AS (
	INSERT INTO object_state AS state
	SELECT * FROM claimed
	    ON CONFLICT (source, object_id) DO UPDATE
	   SET revision = excluded.revision, snapshot = excluded.snapshot
	 WHERE state.revision < excluded.revision
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

// WhereNotExistsAlter is the schema of somebody who trusts it.
const WhereNotExistsAlter = DedupInMemoryAlter

package flawed

import (
	"context"

	"webhooklab/lab/webhook"
)

// DoorBatchInOneStatement stores a batch by one statement, which may touch no row twice (21000). A
// batch that holds an object twice, as any batch may, fails whole each time that it comes.
func DoorBatchInOneStatement(db DB, r *webhook.Route) {
	wholeBatches(db, r, func(ctx context.Context, db DB, source string, batch []byte) error {
		_, err := found(db.QueryRow(ctx, goodItems+`
, claimed AS (
	INSERT INTO webhook_inbox (source, event_id, object_id, revision, snapshot)
	SELECT $1, event_id, object_id, revision, snapshot FROM event
	    ON CONFLICT DO NOTHING
)
INSERT INTO object_state AS state (source, object_id, revision, snapshot)
SELECT $1, object_id, revision, snapshot FROM event
    ON CONFLICT (source, object_id) DO UPDATE
   SET revision = excluded.revision, snapshot = excluded.snapshot
 WHERE state.revision < excluded.revision
RETURNING true`, source, string(batch)))
		return err
	})
}

package flawed

import (
	"context"

	"github.com/jackc/pgx/v5"

	"webhooklab/lab"
)

// DedupInMemory remembers in its process which events it has seen. Another replica, or the next
// process, knows nothing of that, and its table has no key.
func DedupInMemory(ctx context.Context, dsn string) (lab.Receiver, error) {
	seen := map[string]bool{}
	return with(func(s *steps) {
		s.receive = func(ctx context.Context, r *receiver, d lab.Delivery) (lab.Answer, error) {
			a, err := oneTransaction(readCommitted)(ctx, r, d)
			seen[d.Source+" "+d.EventID] = err == nil || seen[d.Source+" "+d.EventID]
			return a, err
		}
		s.claim = func(ctx context.Context, q querier, d lab.Delivery) (bool, error) {
			if seen[d.Source+" "+d.EventID] {
				return false, nil
			}
			_, err := q.(pgx.Tx).Exec(ctx, `
INSERT INTO webhook_inbox (source, event_id, object_id, revision, snapshot)
VALUES ($1, $2, $3, $4, $5::jsonb)`,
				d.Source, d.EventID, d.ObjectID, d.Revision, string(d.Snapshot))
			return err == nil, err
		}
	})(ctx, dsn)
}

// DedupInMemoryAlter takes the keys away.
const DedupInMemoryAlter = `
ALTER TABLE webhook_inbox DROP CONSTRAINT webhook_inbox_event_once,
                          DROP CONSTRAINT webhook_inbox_revision_once;`

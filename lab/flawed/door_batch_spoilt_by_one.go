package flawed

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"webhooklab/lab"
	"webhooklab/lab/webhook"
)

// DoorBatchSpoiltByOne stores a batch in one transaction. One bad item rolls all of them back, and
// the answer that it deserves is given to the good ones too.
func DoorBatchSpoiltByOne(db DB, r *webhook.Route) {
	wholeBatches(db, r, func(ctx context.Context, db DB, source string, batch []byte) error {
		var items []json.RawMessage
		if err := json.Unmarshal(batch, &items); err != nil {
			return err
		}
		return pgx.BeginTxFunc(ctx, db, readCommitted, func(tx pgx.Tx) error {
			for _, item := range items {
				e, err := webhook.SnapshotBody(nil, item)
				if err != nil {
					return err
				}
				d := lab.Delivery{Source: source, EventID: e.ID, ObjectID: e.Object,
					Revision: e.Revision, Snapshot: e.Snapshot}
				isNew, err := claim(ctx, tx, d)
				if err == nil && isNew {
					_, err = advance(ctx, tx, d)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
}

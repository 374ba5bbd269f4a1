package flawed

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"webhooklab/lab"
)

// StalePlanIsAnError asks for every column there is. After a migration each connection that has the
// statement prepared is told so once (0A000), and the sender is told that its event failed.
var StalePlanIsAnError = with(func(s *steps) {
	s.lookUp = func(ctx context.Context, q querier, d lab.Delivery) (lab.Answer, error) {
		rows, err := q.(pgx.Tx).Query(ctx, `
SELECT *, object_id = $3 AND revision = $4 AND snapshot = $5::jsonb AS same
  FROM webhook_inbox
 WHERE source = $1 AND event_id = $2`,
			d.Source, d.EventID, d.ObjectID, d.Revision, string(d.Snapshot))
		if err != nil {
			return lab.Unknown, err
		}
		row, err := pgx.CollectOneRow(rows, pgx.RowToMap)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return lab.ReusedRevision, nil
		case err != nil:
			return lab.Unknown, err
		case row["same"] != true:
			return lab.ReusedEventID, nil
		}
		return lab.Duplicate, nil
	}
})

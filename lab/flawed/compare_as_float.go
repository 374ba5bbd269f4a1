package flawed

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"

	"github.com/jackc/pgx/v5"

	"webhooklab/lab"
)

// CompareAsFloat fetches the stored snapshot and compares it in the language of the receiver,
// where a number is a float64: 2^53 and 2^53+1 are the same to it.
var CompareAsFloat = with(func(s *steps) {
	s.lookUp = func(ctx context.Context, q querier, d lab.Delivery) (lab.Answer, error) {
		var object, snapshot string
		var revision int64
		err := q.QueryRow(ctx, `
SELECT object_id, revision, snapshot::text
  FROM webhook_inbox
 WHERE source = $1 AND event_id = $2`,
			d.Source, d.EventID).Scan(&object, &revision, &snapshot)
		if errors.Is(err, pgx.ErrNoRows) {
			return lab.ReusedRevision, nil
		}
		if err != nil {
			return lab.Unknown, err
		}
		var stored, sent any
		if err := errors.Join(json.Unmarshal([]byte(snapshot), &stored),
			json.Unmarshal(d.Snapshot, &sent)); err != nil {
			return lab.Unknown, err
		}
		if object != d.ObjectID || revision != d.Revision || !reflect.DeepEqual(stored, sent) {
			return lab.ReusedEventID, nil
		}
		return lab.Duplicate, nil
	}
})

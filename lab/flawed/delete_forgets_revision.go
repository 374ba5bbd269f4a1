package flawed

import (
	"context"
	"encoding/json"

	"webhooklab/lab"
)

// DeleteForgetsRevision removes the row of an object that was deleted, and with it the revision
// that a late update would have been held against.
var DeleteForgetsRevision = with(func(s *steps) {
	s.advance = func(ctx context.Context, q querier, d lab.Delivery) (lab.Answer, error) {
		var snapshot struct {
			Deleted bool `json:"deleted"`
		}
		if err := json.Unmarshal(d.Snapshot, &snapshot); err != nil || !snapshot.Deleted {
			return advance(ctx, q, d)
		}
		_, err := found(q.QueryRow(ctx, `
DELETE FROM object_state
 WHERE source = $1 AND object_id = $2 AND revision < $3
RETURNING true`,
			d.Source, d.ObjectID, d.Revision))
		return lab.Applied, err
	}
})

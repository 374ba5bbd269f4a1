package flawed

import (
	"context"

	"webhooklab/lab"
)

// AdvanceCheckedBefore compares revisions in a statement of its own and then writes. The row moves
// between the two.
var AdvanceCheckedBefore = with(func(s *steps) {
	s.advance = func(ctx context.Context, q querier, d lab.Delivery) (lab.Answer, error) {
		newer, err := found(q.QueryRow(ctx, `
SELECT true FROM object_state
 WHERE source = $1 AND object_id = $2 AND revision >= $3`,
			d.Source, d.ObjectID, d.Revision))
		if err != nil || newer {
			return lab.Stale, err
		}
		return upsert(ctx, q, d, "")
	}
})

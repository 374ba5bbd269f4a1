package flawed

import (
	"context"

	"webhooklab/lab"
)

// ChangedBodyIsDuplicate looks whether the event id is there and compares nothing else. What else
// was sent under it is acknowledged and lost.
var ChangedBodyIsDuplicate = with(func(s *steps) {
	s.lookUp = func(ctx context.Context, q querier, d lab.Delivery) (lab.Answer, error) {
		known, err := found(q.QueryRow(ctx, `
SELECT true FROM webhook_inbox
 WHERE source = $1 AND event_id = $2`, d.Source, d.EventID))
		if err != nil || known {
			return lab.Duplicate, err
		}
		return lab.ReusedRevision, nil
	}
})

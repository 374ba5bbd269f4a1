package flawed

import (
	"context"

	"webhooklab/lab"
)

// PurgedTooEarly keeps what it accepted for a day. Its sender retries for three.
var PurgedTooEarly = with(func(s *steps) {
	s.claim = func(ctx context.Context, q querier, d lab.Delivery) (bool, error) {
		_, err := found(q.QueryRow(ctx, `
WITH purged AS (
	DELETE FROM webhook_inbox
	 WHERE source = $1 AND received_at < clock_timestamp() - interval '1 day'
	RETURNING true
)
SELECT count(*) > 0 FROM purged`, d.Source))
		if err != nil {
			return false, err
		}
		return claim(ctx, q, d)
	}
})

// PurgedTooEarlyAlter lets it.
const PurgedTooEarlyAlter = `
DROP TRIGGER webhook_inbox_append_only ON webhook_inbox;`

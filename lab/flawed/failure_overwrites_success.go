package flawed

import (
	"context"
	"errors"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// FailureOverwritesSuccess records a failure wherever it finds the receipt, also when a copy has
// succeeded meanwhile. The next delivery makes the change again.
func FailureOverwritesSuccess(change inbox.Change) lab.NewReceiver {
	return handlerWith(change, func(h *handler) {
		h.record = func(ctx context.Context, e inbox.Event, reason error) (lab.Answer, error) {
			_, err := h.pool.Exec(ctx, `
WITH delivery AS (
	INSERT INTO webhook_delivery (source, event_id, counted_as, answer)
	SELECT $1, $2, CASE WHEN EXISTS (
		SELECT FROM webhook_receipt WHERE source = $1 AND event_id = $2)
	       THEN 'duplicate' ELSE 'new' END, 'failed'
)
INSERT INTO webhook_receipt AS r (source, event_id, event_type, payload, raw_body, model, status,
                                  attempts, last_attempt_at, actor, failure_reason)
VALUES ($1, $2, $3, $4::jsonb, '{}', 'atomic', 'failed', 1, clock_timestamp(), 'atomic', 'failed')
    ON CONFLICT (source, event_id) DO UPDATE
   SET status = 'failed', failure_reason = 'failed', change = NULL, processed_at = NULL`,
				e.Source, e.ID, e.Type, string(e.Payload))
			return lab.Unknown, errors.Join(reason, err)
		}
	})
}

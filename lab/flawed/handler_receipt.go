package flawed

import (
	"context"

	"webhooklab/lab/inbox"
)

// accept makes the receipt this transaction's, a new one or one whose last attempt failed, and
// writes the delivery down; it says whether there is a change to make.
func (h *handler) accept(ctx context.Context, q querier, e inbox.Event) (bool, error) {
	isNew, err := found(q.QueryRow(ctx, `
INSERT INTO webhook_receipt (source, event_id, event_type, payload, raw_body, model, status,
                             attempts, last_attempt_at, actor)
VALUES ($1, $2, $3, $4::jsonb, '{}', 'atomic', 'processing', 1, clock_timestamp(), 'atomic')
    ON CONFLICT DO NOTHING
RETURNING true`, e.Source, e.ID, e.Type, string(e.Payload)))
	switch {
	case err != nil:
		return false, err
	case isNew:
		return true, deliver(ctx, q, e, "new")
	}
	same, err := found(q.QueryRow(ctx, `
SELECT event_type = $3 AND payload = $4::jsonb
  FROM webhook_receipt
 WHERE source = $1 AND event_id = $2`, e.Source, e.ID, e.Type, string(e.Payload)))
	switch {
	case err != nil:
		return false, err
	case !same:
		return false, errOtherContent
	}
	taken, err := h.retake(ctx, q, e)
	if err != nil {
		return false, err
	}
	return taken, deliver(ctx, q, e, "duplicate")
}

// retake takes up a receipt whose last attempt failed, and no other.
func retake(ctx context.Context, q querier, e inbox.Event) (bool, error) {
	return found(q.QueryRow(ctx, `
UPDATE webhook_receipt
   SET status = 'processing', attempts = attempts + 1, last_attempt_at = clock_timestamp()
 WHERE source = $1 AND event_id = $2 AND status = 'failed'
RETURNING true`, e.Source, e.ID))
}

// deliver writes one delivery down.
func deliver(ctx context.Context, q querier, e inbox.Event, counted string) error {
	_, err := found(q.QueryRow(ctx, `
INSERT INTO webhook_delivery (source, event_id, counted_as, answer)
VALUES ($1, $2, $3, 'told')
RETURNING true`, e.Source, e.ID, counted))
	return err
}

// mark ends the attempt: said is what changed, or why nothing did.
func mark(ctx context.Context, q querier, e inbox.Event, status, said string) error {
	_, err := found(q.QueryRow(ctx, `
UPDATE webhook_receipt
   SET status = $3,
       processed_at = CASE $3 WHEN 'processed' THEN clock_timestamp() END,
       change = CASE $3 WHEN 'processed' THEN $4 END,
       failure_reason = CASE WHEN $3 <> 'processed' THEN $4 END
 WHERE source = $1 AND event_id = $2
RETURNING true`, e.Source, e.ID, status, said))
	return err
}

package flawed

import (
	"context"
	"fmt"
	"net/http"

	"webhooklab/lab/inbox"
	"webhooklab/lab/webhook"
)

// wholeBatches has a route take each batch for one event, stored by store: none of its items is
// seen by the sound receiver.
func wholeBatches(db DB, r *webhook.Route, store func(ctx context.Context, db DB, source string,
	batch []byte) error) {
	if !r.Batch {
		return
	}
	r.Batch = false
	r.Mapping = func(_ http.Header, body []byte) (webhook.Event, error) {
		return webhook.Event{ID: "a batch", Raw: body}, nil
	}
	r.Receiver = receives(func(ctx context.Context, e webhook.Event) (inbox.Outcome, error) {
		if err := store(ctx, db, e.Source, e.Raw); err != nil {
			return "", fmt.Errorf("store a batch: %w", err)
		}
		return "batch", nil
	})
}

// goodItems reads the items of a batch, $2, that are events.
const goodItems = `
WITH item AS (
	SELECT i ->> 'event_id' AS event_id, i ->> 'object_id' AS object_id,
	       (i ->> 'revision')::bigint AS revision, i -> 'snapshot' AS snapshot
	  FROM jsonb_array_elements($2::jsonb) AS i
), event AS (
	SELECT * FROM item WHERE num_nulls(event_id, object_id, revision, snapshot) = 0
)`

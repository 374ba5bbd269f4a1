package flawed

import (
	"context"
	"net/http"
	"time"

	"webhooklab/lab/webhook"
)

// DoorClaimsBeforeVerifying stores the event as soon as it can read it, and looks at its signature
// afterwards. A forgery is refused, and its row stays: the true sender's event is a conflict.
func DoorClaimsBeforeVerifying(db DB, r *webhook.Route) {
	sound, source, mapping := r.Verifier, r.Source, r.Mapping
	r.Verifier = verifies(func(header http.Header, body []byte, now time.Time) error {
		if e, err := mapping(header, body); err == nil {
			_, err := found(db.QueryRow(context.Background(), `
INSERT INTO webhook_inbox (source, event_id, object_id, revision, snapshot)
VALUES ($1, $2, $3, $4, $5::jsonb)
    ON CONFLICT DO NOTHING
RETURNING true`,
				source, e.ID, e.Object, e.Revision, string(e.Snapshot)))
			if err != nil {
				return err
			}
		}
		return sound.Verify(header, body, now)
	})
}

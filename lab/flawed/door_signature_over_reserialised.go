package flawed

import (
	"encoding/json"
	"net/http"
	"time"

	"webhooklab/lab/webhook"
)

// DoorSignatureOverReserialised parses the body, as frameworks do, and verifies the signature over
// what it writes of that. Keys in another order, or one space, and nothing of the sender's is let in.
func DoorSignatureOverReserialised(_ DB, r *webhook.Route) {
	sound := r.Verifier
	r.Verifier = verifies(func(header http.Header, body []byte, now time.Time) error {
		var parsed any
		if err := json.Unmarshal(body, &parsed); err == nil {
			body, _ = json.Marshal(parsed)
		}
		return sound.Verify(header, body, now)
	})
}

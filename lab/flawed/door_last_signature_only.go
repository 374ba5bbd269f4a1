package flawed

import (
	"net/http"
	"strings"
	"time"

	"webhooklab/lab/webhook"
)

// DoorLastSignatureOnly keeps the last of several signatures, as whoever reads a header into a map
// does. While the sender rotates its secret and signs by both, nothing of it is let in.
func DoorLastSignatureOnly(_ DB, r *webhook.Route) {
	sound := r.Verifier
	r.Verifier = verifies(func(header http.Header, body []byte, now time.Time) error {
		last := header.Clone()
		for name, values := range last {
			if strings.HasSuffix(name, "-Signature") {
				parts := strings.Split(values[0], ",") // the time, then the signatures
				last.Set(name, parts[0]+","+parts[len(parts)-1])
			}
		}
		return sound.Verify(last, body, now)
	})
}

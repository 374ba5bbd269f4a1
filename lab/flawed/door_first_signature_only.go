package flawed

import (
	"net/http"
	"strings"
	"time"

	"webhooklab/lab/webhook"
)

// DoorFirstSignatureOnly looks at the first of several signatures. While the sender rotates its
// secret and signs by both, nothing of it is let in.
func DoorFirstSignatureOnly(_ DB, r *webhook.Route) {
	sound := r.Verifier
	r.Verifier = verifies(func(header http.Header, body []byte, now time.Time) error {
		one := header.Clone()
		for name, values := range one {
			if strings.HasSuffix(name, "-Signature") {
				parts := strings.Split(values[0], ",") // the time, then the signatures
				one.Set(name, strings.Join(parts[:min(2, len(parts))], ","))
			}
		}
		return sound.Verify(one, body, now)
	})
}

package webhook

import (
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"time"
)

type standardWebhooks struct{ keys }

// NewStandardWebhooks verifies the symmetric signatures of the Standard Webhooks specification,
// and Svix's under its own header names. Signed are id, time and body; the event id is signed. A
// secret is base64, "whsec_" in front or not; signatures of other versions than v1 are skipped.
func NewStandardWebhooks(secrets ...string) (Verifier, error) {
	k, err := decodedKeys("Standard Webhooks", secrets, func(secret string) ([]byte, error) {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil || len(key) == 0 {
			return nil, errors.New("it is not base64: copy the whole of it, whsec_ included")
		}
		return key, nil
	})
	if err != nil {
		return nil, err
	}
	return standardWebhooks{k}, nil
}

// Verify is [Verifier]'s.
func (s standardWebhooks) Verify(header http.Header, body []byte, now time.Time) error {
	prefix := standardPrefix(header)
	id, err := single(header, prefix+"Id")
	if err != nil {
		return err
	}
	stamp, err := single(header, prefix+"Timestamp")
	if err != nil {
		return err
	}
	signed, ok := parseTimestamp(stamp)
	if !ok {
		return &SignatureError{prefix + "Timestamp", "malformed"}
	}
	elements, err := listed(header, prefix+"Signature", " ")
	if err != nil {
		return err
	}
	var signatures [][]byte
	for _, element := range elements {
		if text, ok := strings.CutPrefix(element, "v1,"); ok {
			signatures = append(signatures, base64MAC(text))
		}
	}
	err = s.check(prefix+"Signature", signatures, []byte(id+"."+stamp+"."), body)
	if err != nil {
		return err
	}
	return checkTime(prefix+"Timestamp", signed, now)
}

// standardPrefix chooses the family of headers that is verified, and so the only one whose id may
// be believed.
func standardPrefix(header http.Header) string {
	for _, name := range []string{"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"} {
		if len(header.Values(name)) > 0 {
			return "Webhook-"
		}
	}
	if len(header.Values("Svix-Signature")) > 0 {
		return "Svix-"
	}
	return "Webhook-"
}

// StandardWebhooksEvent reads the envelope that the specification recommends: type and data. The id
// is the verified header's. A data.id names the object, a data.revision its place in the history;
// then data is the snapshot.
func StandardWebhooksEvent(header http.Header, body []byte) (Event, error) {
	prefix := standardPrefix(header)
	e := Event{Raw: body, Headers: headersOf(header,
		prefix+"Id", prefix+"Timestamp", prefix+"Signature")}
	var err error
	if e.ID, err = identity(header, prefix+"Id"); err != nil {
		return e, err
	}
	d, err := parseDocument(body)
	if err != nil {
		return e, err
	}
	if e.Type, err = d.text("type"); err != nil {
		return e, err
	}
	if e.Object, err = d.text("data", "id"); err != nil {
		return e, err
	}
	if e.Revision, err = d.integer("data", "revision"); err != nil {
		return e, err
	}
	e.Snapshot, err = d.find("data")
	return e, err
}

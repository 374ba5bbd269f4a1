package webhook

import (
	"net/http"
	"strings"
	"time"
)

// stamped is the scheme "t=SECONDS,v1=HEX[,v1=HEX…]" in one header, signing "SECONDS.BODY".
type stamped struct {
	keys
	header string
}

// NewStripe verifies Stripe-Signature. The key is the whole text of a secret, "whsec_" included,
// which is not base64 here. The event id is in the body, and so is signed.
func NewStripe(secrets ...string) (Verifier, error) {
	k, err := wholeKeys("Stripe", secrets)
	if err != nil {
		return nil, err
	}
	return stamped{k, "Stripe-Signature"}, nil
}

// Verify is [Verifier]'s.
func (s stamped) Verify(header http.Header, body []byte, now time.Time) error {
	elements, err := listed(header, s.header, ",")
	if err != nil {
		return err
	}
	var signatures [][]byte
	var stamps []string
	for _, element := range elements {
		switch name, text, _ := strings.Cut(element, "="); name {
		case "t":
			stamps = append(stamps, text)
		case "v1":
			signatures = append(signatures, hexMAC(text))
		}
	}
	if len(stamps) != 1 {
		return &SignatureError{s.header, "malformed"}
	}
	signed, ok := parseTimestamp(stamps[0])
	if !ok {
		return &SignatureError{s.header, "malformed"}
	}
	if err := s.check(s.header, signatures, []byte(stamps[0]+"."), body); err != nil {
		return err
	}
	return checkTime(s.header, signed, now)
}

// StripeEvent reads Stripe's event object. It has no revision: its "created" counts whole seconds,
// and two events of one second have no order. So it goes to receivers that need none.
func StripeEvent(header http.Header, body []byte) (Event, error) {
	e := Event{Raw: body, Headers: headersOf(header, "Stripe-Signature")}
	d, err := parseDocument(body)
	if err != nil {
		return e, err
	}
	if e.ID, err = d.needed("id"); err != nil {
		return e, err
	}
	if e.Type, err = d.needed("type"); err != nil {
		return e, err
	}
	if e.Object, err = d.text("data", "object", "id"); err != nil {
		return e, err
	}
	e.Snapshot, err = d.find("data", "object")
	return e, err
}

package webhook

import "net/http"

const postscaleSignature = "X-Postscale-Signature"

// NewPostscale verifies X-Postscale-Signature, written as Stripe's is. That the signed bytes are
// "SECONDS.BODY" is an assumption: this provider's documentation doesn't say. Its delivery id names
// an attempt, not an event, and never serves as one.
func NewPostscale(secrets ...string) (Verifier, error) {
	k, err := wholeKeys("Postscale", secrets)
	if err != nil {
		return nil, err
	}
	return stamped{k, postscaleSignature}, nil
}

// PostscaleEvent reads one email event: event_id, type, message_id, recipient and, if it is there,
// occurred_at as RFC 3339 has it. delivery_id is shown only.
func PostscaleEvent(header http.Header, body []byte) (Event, error) {
	e := Event{Raw: body, Headers: headersOf(header, postscaleSignature)}
	d, err := parseDocument(body)
	if err != nil {
		return e, err
	}
	for _, field := range []struct {
		name string
		into *string
	}{
		{"event_id", &e.ID}, {"type", &e.Type},
		{"message_id", &e.Message}, {"recipient", &e.Recipient},
	} {
		if *field.into, err = d.needed(field.name); err != nil {
			return e, err
		}
	}
	e.Object = e.Message
	if e.DeliveryID, err = d.text("delivery_id"); err != nil {
		return e, err
	}
	e.OccurredAt, err = d.time("occurred_at")
	return e, err
}

package inbox

import (
	"crypto/sha256"
	"encoding/json"
)

// Event is what a provider says happened. Texts are 1 to 1,024 bytes of UTF-8 without NUL, the
// source at most 255.
type Event struct {
	// Source names the authenticated sender's namespace. It comes from configuration, never from
	// a body.
	Source string
	// ID is the same in each retry of an event, and in no other event of the source.
	ID string
	// Type is the provider's name for the kind of event.
	Type string
	// Payload is any JSON that PostgreSQL's jsonb can hold, within the limits of a snapshot.
	Payload json.RawMessage
	// Raw is the body as it was received, at most [MaxBodyBytes]; nil stands for Payload.
	Raw []byte
	// Headers are those that the signature needs, [MaxHeaderBytes] of UTF-8 without NUL in all.
	Headers map[string]string
	// DeliveryID is the sender's name for this attempt, or empty. It identifies nothing, and is
	// cut and escaped to fit.
	DeliveryID string

	said *string
}

// MaxHeaderBytes bounds the names and values of an event's headers together.
const MaxHeaderBytes = 16 << 10

// Changed says, from inside a [Change], what it changes, in words for people; the receipt keeps the
// last ones. Elsewhere it has no effect.
func (e Event) Changed(what string) {
	if e.said != nil && what != "" {
		*e.said = printable(what, maxTextBytes)
	}
}

// check tells what of the event's shape is wrong, without a server. What passes can be stored.
func (e Event) check() *Error {
	for _, text := range []struct {
		name, value string
		limit       int
	}{
		{"source", e.Source, maxSourceBytes},
		{"event_id", e.ID, maxTextBytes},
		{"event_type", e.Type, maxTextBytes},
	} {
		if problem := textProblem(text.value, text.limit); problem != "" {
			return invalid(text.name + "_" + problem)
		}
	}
	if problem := payloadProblem(e.Payload); problem != "" {
		return invalid("payload_" + problem)
	}
	if len(e.Raw) > MaxBodyBytes {
		return invalid("body_too_large")
	}
	return e.checkHeaders()
}

func payloadProblem(document json.RawMessage) string {
	if problem := jsonProblem(document); problem != "" {
		return problem
	}
	return jsonbProblem(document)
}

func (e Event) checkHeaders() *Error {
	size := 0
	for name, value := range e.Headers {
		size += len(name) + len(value)
		if size > MaxHeaderBytes {
			return invalid("headers_too_large")
		}
		for _, text := range []string{name, value} {
			if problem := textProblem(text, MaxHeaderBytes); problem != "" && text != "" {
				return invalid("headers_" + problem)
			}
		}
	}
	return nil
}

// raw is the body, never nil: a column that may not be null takes it.
func (e Event) raw() []byte {
	if e.Raw != nil {
		return e.Raw
	}
	return e.Payload
}

// headers is their JSON object.
func (e Event) headers() string {
	if len(e.Headers) == 0 {
		return "{}"
	}
	text, _ := json.Marshal(e.Headers) // of strings: can't fail
	return string(text)
}

// digest stands for the body in a refusal: of its bytes, or of the fields where none came.
func (e Event) digest() [sha256.Size]byte {
	if e.Raw != nil {
		return sha256.Sum256(e.Raw)
	}
	return fieldsDigest(e.ID, e.Type, string(e.Payload))
}

package webhook

import (
	"encoding/json"
	"net/http"
	"time"

	"webhooklab/lab/inbox"
)

// Event is what a verified request says, in the words that all providers share. What a provider
// doesn't say is left zero; a receiver that needs it refuses the event as invalid.
type Event struct {
	// Source is the route's. No mapping sets it: what a body says of itself is no authority.
	Source string
	// ID is the same in each retry of an event, and in no other event of the source.
	ID string
	// Type is what happened.
	Type string
	// Object and Revision say to what, and where in its history.
	Object   string
	Revision int64
	// Message, Recipient and OccurredAt are an email event's.
	Message, Recipient string
	OccurredAt         time.Time
	// DeliveryID names one attempt. It is shown and never decides anything.
	DeliveryID string
	// Snapshot is the object's complete state, as a part of the body.
	Snapshot json.RawMessage
	// Raw are the bytes that came: the body, or in a batch one item of it.
	Raw []byte
	// Headers are those that the signature stands in, or covers.
	Headers map[string]string
}

// Mapping reads an event from a verified request, where body is one event: the whole of it, or one
// item of a batch. Beside an error it gives what it could read. An event without id is an error:
// were it stored as "", the first such event would claim the name for all.
type Mapping func(header http.Header, body []byte) (Event, error)

// invalid is a refusal that no retry can help.
func invalid(reason string) error {
	return &inbox.Error{Step: "map", Kind: inbox.ErrInvalid, Reason: reason}
}

// headersOf picks those headers that are there.
func headersOf(header http.Header, names ...string) map[string]string {
	picked := make(map[string]string, len(names))
	for _, name := range names {
		if value := header.Get(name); value != "" {
			picked[name] = value
		}
	}
	return picked
}

// identity is the value of a header that must be there once, since it names the event.
func identity(header http.Header, name string) (string, error) {
	value, err := single(header, name)
	if err != nil {
		return "", invalid("event_id_missing")
	}
	return value, nil
}

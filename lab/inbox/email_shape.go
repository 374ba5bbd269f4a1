package inbox

import (
	"crypto/sha256"
	"encoding/json"
	"time"
)

// Validate fails with an [*Error] of kind [ErrInvalid] where Receive would refuse the event for
// its shape. It asks no database.
func (e EmailEvent) Validate() error {
	return asError(e.check())
}

func (e EmailEvent) check() *Error {
	if failure := checkTexts(
		boundedText{"source", e.Source, maxSourceBytes},
		boundedText{"event_id", e.EventID, maxTextBytes},
		boundedText{"message_id", e.MessageID, maxTextBytes},
		boundedText{"recipient", e.Recipient, maxTextBytes},
		boundedText{"type", e.Type, maxTypeBytes},
	); failure != nil {
		return failure
	}
	if year := e.OccurredAt.UTC().Year(); year < 1 || year > 9999 {
		return invalid("occurred_at_out_of_range")
	}
	if problem := snapshotProblem(json.RawMessage(e.document())); problem != "" {
		return invalid("payload_" + problem)
	}
	return nil
}

const maxTypeBytes = 255

// document is the payload as it is stored.
func (e EmailEvent) document() string {
	if len(e.Payload) == 0 {
		return "{}"
	}
	return string(e.Payload)
}

// occurredAt is null if the time is unknown.
func (e EmailEvent) occurredAt() *time.Time {
	if e.OccurredAt.IsZero() {
		return nil
	}
	return &e.OccurredAt
}

// digest stands for the body that the event came in.
func (e EmailEvent) digest() [sha256.Size]byte {
	return fieldsDigest(e.EventID, e.MessageID, e.Recipient, e.Type, e.document())
}

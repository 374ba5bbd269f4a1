package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// A Delivery is one attempt to hand an event over.
//
// Source is the authenticated sender's namespace. A snapshot has an object, its revision and the
// snapshot; an event to be processed has a type and a payload; an email event has a type, and
// "message recipient" for its object. Body, when not nil, is the raw request body and stands in for
// all other fields but Source.
type Delivery struct {
	Source   string
	EventID  string
	ObjectID string
	Revision int64
	Snapshot []byte
	Type     string
	Payload  []byte
	Body     []byte
}

// String names the delivery in transcripts: event, object@revision and snapshot, or the type.
func (d Delivery) String() string {
	if d.Body != nil {
		return fmt.Sprintf("body %.60q", d.Body)
	}
	if d.Type != "" {
		return strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %.60s",
			plainly(d.EventID, 40), plainly(d.Type, 40), d.ObjectID, d.Payload)), " ")
	}
	return fmt.Sprintf("%s %s@%d %s",
		plainly(d.EventID, 40), plainly(d.ObjectID, 40), d.Revision, plainly(string(d.Snapshot), 60))
}

// plainly cuts a text to n bytes, and quotes it unless it reads the same without.
func plainly(text string, n int) string {
	short := text[:min(n, len(text))]
	quoted := strconv.Quote(short)
	if short == "" || strings.ContainsAny(quoted, `\`) && !json.Valid([]byte(short)) {
		return quoted
	}
	return short
}

// An Answer is what the sender learned: the outcome's name, and whether it was acknowledged.
// A sender that learned nothing has the answer Unknown: the work may or may not be done.
type Answer struct {
	Outcome string
	Acked   bool
}

// The answers of the contract.
var (
	Applied        = Answer{Outcome: "applied", Acked: true}
	Stale          = Answer{Outcome: "stale", Acked: true}
	Duplicate      = Answer{Outcome: "duplicate", Acked: true}
	ReusedEventID  = Answer{Outcome: "reused event id"}
	ReusedRevision = Answer{Outcome: "reused revision"}
	Invalid        = Answer{Outcome: "invalid"}
	Unknown        = Answer{Outcome: "unknown"}

	// Done is the answer of a session that ran SQL to its end.
	Done = Answer{Outcome: "done", Acked: true}
)

// SQLError is the answer of a session whose SQL was refused with this SQLSTATE.
func SQLError(state string) Answer { return Answer{Outcome: "ERROR " + state} }

func (a Answer) String() string { return a.Outcome }

// A Receiver is the system under test. An error means that the sender learned nothing.
//
// A receiver that also has a method Close() is closed when its session ends.
type Receiver interface {
	Receive(ctx context.Context, d Delivery) (Answer, error)
}

// NewReceiver makes a fresh receiver that talks to PostgreSQL through dsn and nothing else.
type NewReceiver func(ctx context.Context, dsn string) (Receiver, error)

package lab

import (
	"context"
	"fmt"
)

// A Delivery is one attempt to hand an event over.
//
// Source is the authenticated sender's namespace. Body, when not nil, is the raw request body and
// stands in for all other fields but Source.
type Delivery struct {
	Source   string
	EventID  string
	ObjectID string
	Revision int64
	Snapshot []byte
	Body     []byte
}

// String names the delivery in transcripts: event, object@revision and snapshot.
func (d Delivery) String() string {
	if d.Body != nil {
		return fmt.Sprintf("body %.60q", d.Body)
	}
	return fmt.Sprintf("%.40q %.40q@%d %.60s", d.EventID, d.ObjectID, d.Revision, d.Snapshot)
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

// State is what the judge may see of a receiver: queries over its own tables.
//
// Events yields source, event_id, object_id, revision, snapshot of every accepted event; Objects
// yields source, object_id, revision, snapshot of every object's current state. Refusals yields
// source, event_id, reason, deliveries of what was refused; empty if the receiver keeps none.
type State struct {
	Events   string
	Objects  string
	Refusals string
}

// ReferenceState reads the tables of schema.sql.
var ReferenceState = State{
	Events: `SELECT source, event_id, object_id, revision, snapshot
  FROM webhook_inbox`,
	Objects: `SELECT source, object_id, revision, snapshot
  FROM object_state`,
	Refusals: `SELECT source, event_id, reason, deliveries
  FROM webhook_refusal`,
}

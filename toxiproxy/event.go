package toxiproxy

import (
	"sync/atomic"
	"time"
)

// Kind is what an Event says happened on the wire.
type Kind int

const (
	Opened   Kind = iota // the backend's PID is known, the connection takes its first command
	Held                 // a command arrived and stays here until it is released
	Sent                 // a command leaves for the server
	Answered             // its ReadyForQuery arrived and has not been forwarded yet
	Fired                // a fault fired; the client has not been told anything
	Closed               // the connection is over, nothing more comes from it
	Refused              // the connection was turned away by name
)

// String is the word that a transcript shows.
func (k Kind) String() string {
	switch k {
	case Opened:
		return "opened"
	case Held:
		return "held"
	case Sent:
		return "sent"
	case Answered:
		return "answered"
	case Fired:
		return "fired"
	case Closed:
		return "closed"
	case Refused:
		return "refused"
	}
	return "unknown"
}

// Event is one fact about the wire, told before the bytes that it is about go on.
//
// Command is set for Held, Sent, Answered and Fired; Answer for Answered, and for Fired when the
// server had executed the command; Fault for Fired; Reason for Closed and Refused.
type Event struct {
	Kind    Kind
	Seq     uint64 // order over all wires of this process
	At      time.Time
	Conn    int // number of the connection on its wire, from 1
	PID     uint32
	Command Command
	Answer  Answer
	Fault   *Fault
	Reason  string
}

// sequence orders the events of all wires in this process.
var sequence atomic.Uint64

// stamp gives the event its place in time.
func (e Event) stamp() Event {
	e.Seq, e.At = sequence.Add(1), time.Now()
	return e
}

// notify tells the listener, in the caller's goroutine. No lock may be held: the listener may
// release, arm or sever.
func (p *Proxy) notify(e Event) {
	if e.Seq == 0 {
		e = e.stamp()
	}
	if p.config.Notify != nil {
		p.config.Notify(e)
	}
}

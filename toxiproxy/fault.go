package toxiproxy

import (
	"fmt"
	"sync"
	"time"
)

// Close is how a cut connection ends, as the client sees it.
type Close int

const (
	FIN  Close = iota // an orderly end of the stream
	RST               // a reset: ECONNRESET
	Hang              // no end at all: silence until someone gives up
)

// String is FIN, RST or hang.
func (c Close) String() string {
	switch c {
	case FIN:
		return "FIN"
	case RST:
		return "RST"
	case Hang:
		return "hang"
	}
	return fmt.Sprintf("Close(%d)", int(c))
}

// Place is where on a command's way the cut goes.
type Place int

const (
	BeforeCommand Place = iota // no byte of the command reaches the server
	AfterCommand               // the server executes it, no byte of its answer reaches the client
)

// String is "before" or "after".
func (p Place) String() string {
	switch p {
	case BeforeCommand:
		return "before"
	case AfterCommand:
		return "after"
	}
	return fmt.Sprintf("Place(%d)", int(p))
}

// Fault is one cut, which happens at most once: by Release on the very command that is let go,
// or by Arm on the first that fits Match, PID and Skip.
//
// The exported fields are not changed once it is given away. A client that stops sending before
// its command is whole is no fit.
type Fault struct {
	At    Place
	Close Close
	Match func(Command) bool // nil: any command that is not local
	PID   uint32             // of the backend; 0: any
	Skip  int                // fits that are let go first

	// OnFire runs once the cut is decided (BeforeCommand) or the server has executed the command
	// (AfterCommand), and before the client is told anything; the Fired event follows it. It may
	// ask another connection, must come to an end, and must not call Proxy.Close.
	OnFire func(Event)

	mu       sync.Mutex
	spent    bool // given to a command; it fires there or nowhere
	skipped  int
	fired    int
	when     time.Time
	executed Answer
	victim   *socket // the client's end of the connection that it was given to
	anchor   int64   // bytes of the stream to the client that may be written
}

// Fired is how often it fired: 0 or 1. It counts once OnFire has returned.
func (f *Fault) Fired() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fired
}

// FiredAt is when it fired; zero before.
func (f *Fault) FiredAt() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.when
}

// Executed is what the server answered. It is empty before the fault fired, and for
// BeforeCommand.
func (f *Fault) Executed() Answer {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.executed
}

// Leaked counts the bytes that went into the client's socket behind the last one that it was
// allowed to see. Anything but 0 means that the wire is broken.
func (f *Fault) Leaked() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.victim == nil {
		return 0
	}
	return int(max(0, f.victim.written.Load()-f.anchor))
}

// check refuses a fault that cannot fire.
func (f *Fault) check() error {
	if f.At != BeforeCommand && f.At != AfterCommand {
		return fmt.Errorf("fault at %v: use BeforeCommand or AfterCommand", f.At)
	}
	if f.Close != FIN && f.Close != RST && f.Close != Hang {
		return fmt.Errorf("fault closing by %v: use FIN, RST or Hang", f.Close)
	}
	return nil
}

// take claims the fault for one command; false when it was claimed before.
func (f *Fault) take() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.spent {
		return false
	}
	f.spent = true
	return true
}

// wants tells whether an armed fault fits the command, counting those that Skip lets go.
func (f *Fault) wants(c Command) bool {
	if f.PID != 0 && f.PID != c.PID {
		return false
	}
	if f.Match == nil && c.Local() || f.Match != nil && !f.Match(c) {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.spent {
		return false
	}
	if f.skipped < f.Skip {
		f.skipped++
		return false
	}
	f.spent = true
	return true
}

// aim fixes, once, how much of the client's stream may be written.
func (f *Fault) aim(victim *socket, allowed int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.victim == nil {
		f.victim, f.anchor = victim, allowed
	}
}

// allow lets more bytes follow.
func (f *Fault) allow(bytes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.anchor += int64(bytes)
}

// fire runs OnFire, counts, and tells the listener, in this order: who sees the count or the event
// sees what OnFire did. No lock may be held.
func (f *Fault) fire(p *Proxy, e Event) {
	e.Kind, e.Fault = Fired, f
	e = e.stamp()
	f.mu.Lock()
	f.executed, f.when = e.Answer, e.At
	f.mu.Unlock()
	if f.OnFire != nil {
		f.OnFire(e)
	}
	f.mu.Lock()
	f.fired++
	f.mu.Unlock()
	p.notify(e)
}

package toxiproxy

import (
	"strings"
	"sync"
)

// flight holds the commands that the server has not answered yet, in the order they left, and
// decides for every message of the server whose answer it is part of.
type flight struct {
	mu       sync.Mutex
	queue    []*pending
	admitted int64 // bytes of the stream to the client that were let go
	ready    bool  // the first ReadyForQuery came
	pid      uint32
	client   *socket
	over     bool // the connection was cut in front of a command
}

// pending is one command under way. A cycle that is flushed in parts has one for each part that
// executes; the ReadyForQuery of its Sync answers them all.
type pending struct {
	command  Command
	answer   Answer
	fault    *Fault
	executes int  // completions that it asks for
	done     int  // completions that came
	synced   bool // its Sync or Query has left, so a ReadyForQuery will come
	simple   bool
	copying  bool // the server took the data; a Sync sent before it is lost
}

// verdict is what the flight says about one message of the server.
type verdict struct {
	keep     bool
	opened   bool
	answered []*pending // now complete, in order
	fired    *pending   // now executed, its answer dropped
	confused bool       // nobody asked for this ReadyForQuery
}

// tail tells whether the Sync only ends a cycle whose parts have left before, and notes it.
func (f *flight) tail() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.queue) == 0 {
		return false
	}
	last := f.queue[len(f.queue)-1]
	if last.synced && !last.copying {
		return false
	}
	last.synced, last.copying = true, false
	return true
}

// depart adds a command whose bytes are about to leave.
func (f *flight) depart(p *pending) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queue = append(f.queue, p)
	f.aim()
}

// cut drops all that comes from the server, and tells the fault what the client has seen.
func (f *flight) cut(fault *Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
	fault.aim(f.client, f.admitted)
}

// current is the command that the server is answering, nil if it has none.
func (f *flight) current() *pending {
	if !f.ready {
		return nil
	}
	for i, p := range f.queue {
		last := i+1 == len(f.queue)
		if last || p.synced || p.done < p.executes {
			return p
		}
	}
	return nil
}

// aim tells the fault of the command whose answer comes next what the client may have seen.
func (f *flight) aim() {
	if p := f.current(); p != nil && p.fault != nil {
		p.fault.aim(f.client, f.admitted)
	}
}

// judge attributes one message. Of the answer of a doomed command nothing is kept, whatever it
// is; only a COPY's request for data passes, for it is no answer: the command is not executed
// without the data.
func (f *flight) judge(m message) verdict {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return verdict{}
	}
	p := f.current()
	doomed := p != nil && p.fault != nil
	v := verdict{keep: !doomed || m.kind == 'G'}
	if v.keep {
		f.admitted += int64(m.size)
	}
	if v.keep && doomed {
		p.fault.allow(m.size)
	}
	if m.kind == 'K' {
		f.pid = uint32(m.body.int32())
	}
	if m.kind == 'Z' {
		f.readyForQuery(m, &v)
	} else if p != nil {
		p.note(m)
		if doomed && !p.synced && p.done >= p.executes {
			v.fired = p
		}
	}
	f.aim()
	return v
}

// readyForQuery completes the oldest cycle.
func (f *flight) readyForQuery(m message, v *verdict) {
	status := m.body.byte()
	if !f.ready {
		f.ready, v.opened = true, true
		return
	}
	n := 0
	for n < len(f.queue) && !f.queue[n].synced {
		n++
	}
	if n == len(f.queue) {
		v.confused = true
		return
	}
	v.answered = f.queue[: n+1 : n+1]
	f.queue = f.queue[n+1:]
	state := ""
	for _, p := range v.answered {
		if p.answer.SQLState == "" { // the rest of a failed cycle is skipped by the server
			p.answer.SQLState = state
		}
		state = p.answer.SQLState
		p.answer.TxStatus = status
		if p.fault != nil && v.fired == nil {
			v.fired = p
		}
	}
}

// note adds a message to the command's answer.
func (p *pending) note(m message) {
	switch m.kind {
	case 'C':
		p.done++
		p.answer.Tags = append(p.answer.Tags, m.body.text())
	case 'I', 's', 'V':
		p.done++
	case 'D':
		p.answer.Rows++
	case 'E':
		p.done = max(p.done, p.executes) // the server skips the rest
		if p.answer.SQLState == "" {
			p.answer.SQLState = sqlState(&m.body)
		}
	case 'G':
		p.copying = !p.simple
	}
}

// newPending is a command that is about to leave, with the fault that its answer meets.
func newPending(u *unit, f *Fault) *pending {
	return &pending{
		command:  *u.command,
		fault:    f,
		executes: u.executes,
		synced:   strings.IndexByte("QFS", u.end) >= 0,
		simple:   u.end == 'Q',
	}
}

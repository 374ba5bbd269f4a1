package toxiproxy

import (
	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// cutToxic is pg_cut: it ends the connection in front of a command, of which no byte reaches the
// server, and enters every other command in the flight.
//
//	pg_hold > INSERT > COMMIT > pg_cut > INSERT > server
//	                               x COMMIT
type cutToxic struct {
	conn *connection // set before the link starts
}

// Arm lays out a fault for the first command that fits it. Faults are tried in the order they
// were armed, also on a command that is released without one. A fault that can't fire panics: it
// would pass for one that was never reached.
func (p *Proxy) Arm(f *Fault) {
	if err := f.check(); err != nil {
		panic("toxiproxy: arm: " + err.Error())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = append(p.armed, f)
}

// Disarm takes back a fault that no command has fitted yet.
func (p *Proxy) Disarm(f *Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = without(p.armed, f)
}

// find takes the armed fault that fits the command, nil if none does.
func (p *Proxy) find(c Command) *Fault {
	p.mu.Lock()
	armed := p.armed
	p.mu.Unlock()
	for _, f := range armed {
		if f.wants(c) {
			p.Disarm(f)
			return f
		}
	}
	return nil
}

func without(faults []*Fault, f *Fault) []*Fault {
	var left []*Fault
	for _, other := range faults {
		if other != f {
			left = append(left, other)
		}
	}
	return left
}

// Pipe passes units on until one is cut.
func (t *cutToxic) Pipe(stub *toxics.ToxicStub) {
	t.conn.run(stub, stream.Upstream, func(chunk *stream.StreamChunk) error {
		return t.pass(stub, chunk)
	})
}

// pass sends one unit to the server, if it is not cut.
func (t *cutToxic) pass(stub *toxics.ToxicStub, chunk *stream.StreamChunk) error {
	c := t.conn
	select {
	case u := <-c.handed:
		if u.command != nil && !c.depart(u) {
			return errStopped
		}
	case <-c.muted:
		return errStopped
	case <-stub.Interrupt:
		return errInterrupted
	}
	return c.deliver(stub, chunk, c.muted)
}

// depart enters the command in the flight, or cuts it; false when it was cut.
func (c *connection) depart(u *unit) bool {
	if len(u.statements) == 0 && u.end == 'S' && c.flight.tail() {
		return true
	}
	f := u.fault
	if f == nil {
		f = c.proxy.find(*u.command)
	}
	if f != nil && f.At == BeforeCommand {
		c.cut(f, *u.command)
		return false
	}
	c.flight.depart(newPending(u, f))
	c.proxy.notify(Event{Kind: Sent, Conn: c.number, PID: u.command.PID, Command: *u.command})
	return true
}

// cut ends the connection in front of the command. What the server says from here on the client
// never sees, be it to an earlier command.
func (c *connection) cut(f *Fault, cmd Command) {
	c.flight.cut(f)
	why := "cut by " + f.Close.String() + " before " + cmd.Label()
	c.because(why)
	f.fire(c.proxy, Event{Conn: c.number, PID: cmd.PID, Command: cmd})
	c.mute(f.Close, why)
}

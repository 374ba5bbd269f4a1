package toxiproxy

import (
	"fmt"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// holdToxic is pg_hold: it keeps every command of the client until it is released.
//
//	client > chunks > pg_hold > whole units > pg_cut > server
//	                     ^ Release
type holdToxic struct {
	conn *connection // set before the link starts
}

// gate says which commands of a wire wait, and knows those that do. Proxy.mu guards it.
type gate struct {
	shut bool
	held map[uint64]*held
}

// held is one command that waits for its release.
type held struct {
	command  Command
	released chan *Fault // has room for the one release there is
}

// Gate shuts or opens the wire. While it is shut, each command that is not local is held when it
// arrives; opening lets those that are held go, in no promised order over connections.
func (p *Proxy) Gate(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gate.shut = on
	if on {
		return
	}
	for id, h := range p.gate.held {
		delete(p.gate.held, id)
		h.released <- nil
	}
}

// Release lets the held command go. With a fault, this very command is cut or loses its answer,
// whatever Match, PID and Skip say. It fails when the command is not held (it never was, it was
// released before, or its connection ended) and when the fault was given away before.
func (p *Proxy) Release(c Command, f *Fault) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	h, ok := p.gate.held[c.ID]
	if !ok {
		return fmt.Errorf("wire %s: release %s (command %d, connection %d): it is not held; "+
			"wait for its Held event, and for Closed on its connection",
			p.config.Name, c.Label(), c.ID, c.Conn)
	}
	if f != nil {
		if err := f.check(); err != nil {
			return fmt.Errorf("wire %s: release %s: %w", p.config.Name, c.Label(), err)
		}
		if !f.take() {
			return fmt.Errorf("wire %s: release %s: the fault was given to another command; "+
				"make a new one for each cut", p.config.Name, c.Label())
		}
	}
	delete(p.gate.held, c.ID)
	h.released <- f
	return nil
}

// enter holds the command if the gate is shut; nil lets it pass.
func (p *Proxy) enter(c Command) *held {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gate.shut || c.Local() {
		return nil
	}
	h := &held{command: c, released: make(chan *Fault, 1)}
	p.gate.held[c.ID] = h
	return h
}

func (p *Proxy) leave(h *held) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.gate.held, h.command.ID)
}

// Pipe frames the client's bytes and passes them on unit by unit.
func (t *holdToxic) Pipe(stub *toxics.ToxicStub) {
	t.conn.run(stub, stream.Upstream, func(chunk *stream.StreamChunk) error {
		t.conn.frontend.push(chunk.Data)
		return t.pass(stub, chunk)
	})
}

// pass sends on what is whole, each command after its release.
func (t *holdToxic) pass(stub *toxics.ToxicStub, chunk *stream.StreamChunk) error {
	for {
		u, err := t.conn.frontend.next()
		if err != nil {
			return t.conn.refuse(fmt.Errorf("its client sent what this wire can't read: %w", err))
		}
		if u == nil {
			return nil
		}
		if u.asks() {
			u.command = t.conn.command(u)
			if u.fault, err = t.wait(stub, *u.command); err != nil {
				return err
			}
		}
		if err := t.hand(stub, u, chunk); err != nil {
			return err
		}
	}
}

// hand gives one unit to pg_cut: what it is beside the link, its bytes as one chunk through it.
func (t *holdToxic) hand(stub *toxics.ToxicStub, u *unit, chunk *stream.StreamChunk) error {
	select {
	case t.conn.handed <- u:
	case <-t.conn.muted:
		return errStopped
	case <-stub.Interrupt:
		return errInterrupted
	}
	whole := &stream.StreamChunk{Data: u.data, Timestamp: chunk.Timestamp}
	return send(stub, whole, t.conn.muted)
}

// wait returns once the command may go. Bytes behind it are gathered meanwhile, for only a client
// that is read from can be seen to leave.
func (t *holdToxic) wait(stub *toxics.ToxicStub, cmd Command) (*Fault, error) {
	c := t.conn
	h := c.proxy.enter(cmd)
	if h == nil {
		return nil, nil
	}
	defer c.proxy.leave(h)
	c.proxy.notify(Event{Kind: Held, Conn: c.number, PID: cmd.PID, Command: cmd})
	for {
		select {
		case f := <-h.released:
			return f, nil
		case <-c.muted:
			return nil, errStopped
		case <-stub.Interrupt:
			return nil, errInterrupted
		case chunk := <-stub.Input:
			if chunk == nil {
				c.because("its client left while " + cmd.Label() + " was held")
				return nil, errEnded
			}
			c.frontend.push(chunk.Data)
		}
	}
}

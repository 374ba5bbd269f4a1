package toxiproxy

import (
	"errors"
	"fmt"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// dropAckToxic is pg_drop_ack: it watches the server's answers, and of the command that lost its
// acknowledgement it lets nothing through.
//
//	client < INSERT 0 1 < pg_drop_ack < INSERT 0 1 < server
//	                          x COMMIT, ReadyForQuery
type dropAckToxic struct {
	conn *connection // set before the link starts
}

// Pipe passes the server's bytes on until a fault fires.
func (t *dropAckToxic) Pipe(stub *toxics.ToxicStub) {
	t.conn.run(stub, stream.Downstream, func(chunk *stream.StreamChunk) error {
		return t.pass(stub, chunk)
	})
}

// pass sends on what the client may see.
func (t *dropAckToxic) pass(stub *toxics.ToxicStub, chunk *stream.StreamChunk) error {
	c := t.conn
	var fired *pending
	confused := false
	data, err := c.backend.scan(chunk.Data, func(m message) (keep, stop bool) {
		v := c.flight.judge(m)
		c.tell(v)
		fired, confused = v.fired, v.confused
		return v.keep, fired != nil || confused
	})
	if confused {
		err = errors.New("a ReadyForQuery that answers no command")
	}
	if err != nil {
		return c.refuse(fmt.Errorf("its server sent what this wire can't read: %w", err))
	}
	if len(data) > 0 {
		forward := &stream.StreamChunk{Data: data, Timestamp: chunk.Timestamp}
		if err := c.deliver(stub, forward, c.ended); err != nil {
			return err
		}
	}
	if fired != nil {
		c.drop(fired)
		return errStopped
	}
	return nil
}

// tell reports what a message of the server completed, before its bytes go on.
func (c *connection) tell(v verdict) {
	if v.opened {
		c.proxy.notify(Event{Kind: Opened, Conn: c.number, PID: c.pid()})
	}
	for _, p := range v.answered {
		if p.fault != nil {
			return
		}
		c.proxy.notify(Event{Kind: Answered, Conn: c.number, PID: c.pid(),
			Command: p.command, Answer: p.answer})
	}
}

// drop fires the fault of a command that the server has executed.
func (c *connection) drop(p *pending) {
	f := p.fault
	why := "acknowledgement of " + p.command.Label() + " dropped by " + f.Close.String()
	c.because(why)
	f.fire(c.proxy, Event{Conn: c.number, PID: c.pid(), Command: p.command, Answer: p.answer})
	c.mute(f.Close, why)
}

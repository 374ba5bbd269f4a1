package toxiproxy

import (
	"sync"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// asked is the question under way on a wire of requests.
type asked struct {
	mu      sync.Mutex
	open    bool // the request was begun and nothing was answered yet
	command Command
	fault   *Fault
}

// loseRequestToxic is lose_request: on a wire of requests it ends the connection in front of the
// first byte of a request.
//
//	sender > lose_request > receiver
//	             x POST
type loseRequestToxic struct {
	conn *connection // set before the link starts
}

// Pipe passes the client's bytes on until a request is cut.
func (t *loseRequestToxic) Pipe(stub *toxics.ToxicStub) {
	c := t.conn
	c.run(stub, stream.Upstream, func(chunk *stream.StreamChunk) error {
		if !c.ask() {
			return errStopped
		}
		return c.deliver(stub, chunk, c.muted)
	})
}

// ask opens a request, unless one is open, and gives it the armed fault that fits; false when it
// was cut.
func (c *connection) ask() bool {
	c.asked.mu.Lock()
	if c.asked.open {
		c.asked.mu.Unlock()
		return true
	}
	cmd := Command{
		ID: commands.Add(1), Conn: c.number, Statements: []Statement{{SQL: "REQUEST"}},
	}
	f := c.proxy.find(cmd)
	c.asked.open, c.asked.command, c.asked.fault = true, cmd, f
	c.asked.mu.Unlock()
	if f != nil && f.At == BeforeCommand {
		c.cut(f, cmd)
		return false
	}
	c.proxy.notify(Event{Kind: Sent, Conn: c.number, Command: cmd})
	return true
}

// loseResponseToxic is lose_response: on a wire of requests it lets nothing of a doomed answer
// through, and ends the connection once the receiver has begun to answer.
//
//	sender < lose_response < receiver
//	             x 200 OK
type loseResponseToxic struct {
	conn *connection // set before the link starts
}

// Pipe passes the server's bytes on until a response is lost.
func (t *loseResponseToxic) Pipe(stub *toxics.ToxicStub) {
	c := t.conn
	c.run(stub, stream.Downstream, func(chunk *stream.StreamChunk) error {
		if c.doomed() {
			return errStopped
		}
		c.flight.mu.Lock()
		c.flight.admitted += int64(len(chunk.Data))
		c.flight.mu.Unlock()
		return c.deliver(stub, chunk, c.ended)
	})
}

// doomed closes the request that is being answered, and loses the answer if it has a fault.
func (c *connection) doomed() bool {
	c.asked.mu.Lock()
	open, cmd, f := c.asked.open, c.asked.command, c.asked.fault
	c.asked.open, c.asked.fault = false, nil
	c.asked.mu.Unlock()
	if !open || f == nil {
		return false
	}
	c.flight.cut(f)
	c.drop(&pending{command: cmd, fault: f})
	return true
}

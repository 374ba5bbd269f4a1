package toxiproxy

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	shopify "github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/stream"
)

// linkEnds are the goroutines of a connection that are waited for beside this package's toxics: two
// readers and two writers.
const linkEnds = 4

// connection is one client's connection and the server's end that belongs to it.
type connection struct {
	proxy    *Proxy
	number   int
	client   *socket
	server   *socket // nil until the start-up packet is read
	frontend *frontend
	backend  backend
	flight   flight
	handed   chan *unit     // from pg_hold to pg_cut, one for each chunk
	asked    asked          // on a wire of requests
	parts    sync.WaitGroup // see linkEnds

	muted chan struct{} // closed: nothing passes any more, in either direction
	ended chan struct{} // closed: both sockets are closed

	mu     sync.Mutex
	linked bool
	how    Close // how the client's end is to close
	hung   bool  // it is not, until the client leaves or the connection is ended
	reason string
}

func newConnection(p *Proxy, number int, tcp *net.TCPConn) *connection {
	c := &connection{
		proxy:    p,
		number:   number,
		frontend: newFrontend(),
		handed:   make(chan *unit, 1),
		muted:    make(chan struct{}),
		ended:    make(chan struct{}),
	}
	c.client = &socket{net: tcp, conn: c, name: "client"}
	c.flight.client = c.client
	return c
}

// serve sees the connection from its first byte to its Closed event.
func (c *connection) serve() {
	defer c.proxy.serving.Done()
	hello, err := greeting{}, error(nil)
	if !c.proxy.config.Requests {
		hello, err = c.greet()
	}
	switch {
	case err != nil:
	case hello.cancel:
		err = c.cancel(hello.packet)
	default:
		err = c.link(hello.packet)
	}
	c.turnAway(err)
	c.proxy.forget(c)
	if !hello.cancel { // which is no connection in the listener's sense
		c.proxy.notify(Event{Kind: Closed, Conn: c.number, PID: c.pid(), Reason: c.why()})
	}
}

// turnAway ends a connection that did not end by itself, and tells its client why if there is a
// code for it.
func (c *connection) turnAway(err error) {
	var refused *refusal
	var down *unreachable
	switch {
	case errors.As(err, &refused):
		c.say(refused.sqlState, refused.reason)
		_ = c.refuse(refused)
	case errors.As(err, &down):
		c.say("08006", down.Error())
		c.end(FIN, down.Error())
	case errors.Is(err, io.EOF):
		c.end(FIN, "its client left before it said anything")
	case err != nil:
		c.end(FIN, err.Error())
	default:
		c.end(FIN, "it is over")
	}
}

// say writes an error to a client that is not linked.
func (c *connection) say(sqlState, reason string) {
	if sqlState != "" {
		text := fmt.Sprintf("wire %s: %s", c.proxy.config.Name, reason)
		_, _ = c.client.net.Write(errorResponse(sqlState, text)) // it may be gone already
	}
}

// refuse ends the connection and names the reason.
func (c *connection) refuse(why error) error {
	p := c.proxy
	reason := fmt.Sprintf("wire %s: connection %d: %v", p.config.Name, c.number, why)
	p.mu.Lock()
	p.refused = append(p.refused, reason)
	p.mu.Unlock()
	p.notify(Event{Kind: Refused, Conn: c.number, PID: c.pid(), Reason: reason})
	c.end(FIN, reason)
	return errStopped
}

// command numbers what a unit asks of the server.
func (c *connection) command(u *unit) *Command {
	return &Command{ID: commands.Add(1), Conn: c.number, PID: c.pid(), Statements: u.statements,
		name: c.frontend.name(u.statements)}
}

// unreachable is a server that can't be connected to.
type unreachable struct{ error }

// link joins client and server until one of them leaves or the connection is ended. packet is
// the client's start-up packet.
func (c *connection) link(packet []byte) error {
	server, err := c.proxy.dial()
	if err != nil {
		return err
	}
	if !c.adopt(server) {
		return server.Close()
	}
	if _, err := server.Write(packet); err != nil {
		return fmt.Errorf("send the start-up packet to %s: %w", c.proxy.config.Upstream, err)
	}
	name := fmt.Sprintf("%s_%d_", c.proxy.config.Name, c.number)
	never := shopify.NewProxy(c.proxy.server, name, c.proxy.Addr(), c.proxy.config.Upstream)
	if err := c.chain(never.Toxics); err != nil {
		return err
	}
	c.mu.Lock()
	c.linked = true
	c.mu.Unlock()
	c.parts.Add(linkEnds + len(c.own()))
	up, down := stream.Upstream, stream.Downstream
	never.Toxics.StartLink(c.proxy.server, name+"up", c.client, c.server, up)
	never.Toxics.StartLink(c.proxy.server, name+"down", c.server, c.client, down)
	c.parts.Wait()
	return nil
}

// adopt takes the server's end; false when the connection was ended meanwhile.
func (c *connection) adopt(server duplex) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if isClosed(c.ended) {
		return false
	}
	c.server = &socket{net: server, conn: c, name: "server"}
	return true
}

// mute stops all data and lays down how the client's end will close, which the link then does.
// Hang leaves both sockets open.
func (c *connection) mute(how Close, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if isClosed(c.muted) {
		return
	}
	c.how, c.hung = how, how == Hang
	c.silence(reason)
}

// silence is called with mu held. The first reason is kept.
func (c *connection) silence(reason string) {
	if !isClosed(c.muted) {
		close(c.muted)
	}
	if c.reason == "" {
		c.reason = reason
	}
}

// end closes both sockets, the server's always by FIN. Later calls do nothing.
func (c *connection) end(how Close, reason string) {
	c.mu.Lock()
	if isClosed(c.ended) {
		c.mu.Unlock()
		return
	}
	c.silence(reason)
	close(c.ended)
	server := c.server
	c.mu.Unlock()
	c.client.finish(how)
	if server != nil {
		server.finish(FIN)
	}
}

// because keeps why the connection is about to end.
func (c *connection) because(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reason == "" {
		c.reason = reason
	}
}

// alive tells whether a client is joined to the server.
func (c *connection) alive() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.linked && !isClosed(c.ended)
}

func (c *connection) manner() Close {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.how
}

func (c *connection) hanging() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hung
}

func (c *connection) why() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reason
}

func (c *connection) pid() uint32 {
	c.flight.mu.Lock()
	defer c.flight.mu.Unlock()
	return c.flight.pid
}

func isClosed(done chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

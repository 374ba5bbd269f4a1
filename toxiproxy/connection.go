package toxiproxy

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	shopify "github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/stream"
)

// linkParts are the goroutines of a connection that are waited for: two readers, two writers, and
// this package's three toxics.
const linkParts = 7

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
	parts    sync.WaitGroup // see linkParts

	muted chan struct{} // closed: nothing passes any more, in either direction
	ended chan struct{} // closed: both sockets are closed

	mu     sync.Mutex
	linked bool
	how    Close // how the client's end is to close
	hung   bool
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
	c.client = &socket{tcp: tcp, conn: c, name: "client"}
	c.flight.client = c.client
	return c
}

// socket is one end of a connection, as Toxiproxy's link sees it.
type socket struct {
	tcp     *net.TCPConn
	conn    *connection
	name    string
	written atomic.Int64 // bytes
}

// Read is that of the socket; the link stops reading at the first error.
func (s *socket) Read(b []byte) (int, error) {
	n, err := s.tcp.Read(b[:min(len(b), s.conn.proxy.readLimit)])
	if err != nil {
		s.conn.parts.Done()
	}
	return n, err
}

// Write never fails: a link whose writer gives up leaks the goroutines in front of it. A write
// that fails ends the connection, and what comes later is swallowed.
func (s *socket) Write(b []byte) (int, error) {
	n, err := s.tcp.Write(b)
	s.written.Add(int64(n))
	if err != nil {
		s.conn.end(FIN, "its "+s.name+" takes no more bytes")
	}
	return len(b), nil
}

// Close is called by the link when the stream to this end is over. The other end can only be
// the one that left, so both are closed.
func (s *socket) Close() error {
	other := s.conn.client
	if s == s.conn.client {
		other = s.conn.server
	}
	s.conn.end(s.conn.manner(), "its "+other.name+" left")
	s.conn.parts.Done()
	return nil
}

// finish closes the socket. An end that closes with bytes unread resets the connection, so for
// FIN the end of the stream is sent first.
func (s *socket) finish(how Close) {
	if how == RST {
		_ = s.tcp.SetLinger(0) // fails only on a socket that is gone
	} else {
		_ = s.tcp.CloseWrite()
	}
	_ = s.tcp.Close()
}

// link joins client and server until one of them leaves or the connection is ended. packet is
// the client's start-up packet.
func (c *connection) link(packet []byte) error {
	tcp, err := c.proxy.dial()
	if err != nil {
		return err
	}
	if !c.adopt(tcp) {
		return tcp.Close()
	}
	if _, err := tcp.Write(packet); err != nil {
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
	c.parts.Add(linkParts)
	up, down := stream.Upstream, stream.Downstream
	never.Toxics.StartLink(c.proxy.server, name+"up", c.client, c.server, up)
	never.Toxics.StartLink(c.proxy.server, name+"down", c.server, c.client, down)
	c.parts.Wait()
	return nil
}

// adopt takes the server's end; false when the connection was ended meanwhile.
func (c *connection) adopt(tcp *net.TCPConn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if isClosed(c.ended) {
		return false
	}
	c.server = &socket{tcp: tcp, conn: c, name: "server"}
	return true
}

// mute stops all data and lays down how the client's end will close.
func (c *connection) mute(how Close, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.silence(reason)
	c.how = how
}

// hang stops all data and leaves both sockets open.
func (c *connection) hang(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.silence(reason)
	c.hung = true
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

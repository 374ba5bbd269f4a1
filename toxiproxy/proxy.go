// Package toxiproxy is a wire: a PostgreSQL connection under control.
//
// Between a client and its server it runs Toxiproxy's links with toxics that understand the
// PostgreSQL protocol (version 3), whatever chunks it comes in. Each command can be held before
// it reaches the server, cut there, or executed and its acknowledgement dropped. A client needs
// nothing but the wire's address.
//
//	client ── stock toxics ── pg_hold ── pg_cut ──────► server
//	   ▲───── pg_drop_ack ────────────── stock toxics ─────┘
//
// What the wire can't read it refuses by name: TLS, replication, garbage. Nothing passes unseen.
package toxiproxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	shopify "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// dialTimeout bounds the connect to the server.
const dialTimeout = 5 * time.Second

// Config says where a wire leads.
type Config struct {
	Name     string // of the session that uses it; only for messages
	Upstream string // host:port of the server

	// Notify hears of every event, before the bytes concerned go on. It is called from several
	// goroutines at once, and must not call Close.
	Notify func(Event)

	Toxics []Toxic // Toxiproxy's own, on every connection from its first byte
}

// Proxy is one wire: a local address behind which every connection is under control.
type Proxy struct {
	config   Config
	listener *net.TCPListener
	server   *shopify.ApiServer // carries the log and metrics of the links; it never listens
	serving  sync.WaitGroup
	context  context.Context // ends with the wire
	cancel   context.CancelFunc

	readLimit int // bytes that are read from a socket at once

	mu          sync.Mutex
	gate        gate
	armed       []*Fault
	connections map[int]*connection
	last        int // number of the youngest connection
	refused     []string
}

// commands numbers the commands of all wires in this process.
var commands atomic.Uint64

// Open starts a wire on a free port of 127.0.0.1. It fails when a toxic is none that the wire
// offers, or when no port can be had; the server is not asked yet.
func Open(config Config) (*Proxy, error) {
	register()
	readLimit := maxRead
	for _, t := range config.Toxics {
		limit, err := t.check()
		if err != nil {
			return nil, fmt.Errorf("open wire %s: %w", config.Name, err)
		}
		readLimit = min(readLimit, limit)
	}
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, fmt.Errorf("open wire %s: listen on 127.0.0.1: %w", config.Name, err)
	}
	p := &Proxy{
		config:      config,
		listener:    listener,
		server:      shopify.NewServer(shopify.NewMetricsContainer(nil), zerolog.Nop()),
		gate:        gate{held: map[uint64]*held{}},
		connections: map[int]*connection{},
		readLimit:   readLimit,
	}
	p.context, p.cancel = context.WithCancel(context.Background())
	p.serving.Add(1)
	go p.accept()
	return p, nil
}

// Addr is the wire's host:port, for a client's DSN.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Connections is how many connections are open now, those left hanging included. One that is
// still in its start-up packet, or only carries a CancelRequest, is none yet.
func (p *Proxy) Connections() int {
	open := 0
	for _, c := range p.open() {
		if c.alive() {
			open++
		}
	}
	return open
}

// Refused lists the connections that were turned away, with the reason of each.
func (p *Proxy) Refused() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.refused...)
}

// Sever ends all connections now; commands that are held never reach the server. The server is
// always told by FIN. Hang leaves both ends open and silent, until the client leaves or another
// Sever or Close. New connections are still taken.
func (p *Proxy) Sever(how Close) {
	for _, c := range p.open() {
		if how == Hang {
			c.hang("severed by hang")
		} else {
			c.end(how, "severed by "+how.String())
		}
	}
}

func (p *Proxy) open() []*connection {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]*connection, 0, len(p.connections))
	for _, c := range p.connections {
		list = append(list, c)
	}
	return list
}

// Close ends the wire and every connection, and returns when their goroutines are gone; toxics
// that delay are waited for. Later calls do the same. It never fails.
func (p *Proxy) Close() error {
	p.cancel()
	_ = p.listener.Close()
	for _, c := range p.open() {
		c.end(FIN, "its wire was closed")
	}
	p.serving.Wait()
	return nil
}

// accept serves each client in a goroutine of its own.
func (p *Proxy) accept() {
	defer p.serving.Done()
	for {
		tcp, err := p.listener.AcceptTCP()
		if p.context.Err() != nil || errors.Is(err, net.ErrClosed) {
			if err == nil {
				_ = tcp.Close()
			}
			return
		}
		if err != nil {
			p.pause() // out of file descriptors: others must be closed first
			continue
		}
		if c := p.admit(tcp); c != nil {
			go c.serve()
		} else {
			_ = tcp.Close()
		}
	}
}

func (p *Proxy) pause() {
	select {
	case <-time.After(5 * time.Millisecond):
	case <-p.context.Done():
	}
}

// admit enters a new connection; nil once the wire is closed.
func (p *Proxy) admit(tcp *net.TCPConn) *connection {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.context.Err() != nil {
		return nil
	}
	p.last++
	c := newConnection(p, p.last, tcp)
	p.connections[c.number] = c
	p.serving.Add(1)
	return c
}

func (p *Proxy) dial() (*net.TCPConn, error) {
	dialer := net.Dialer{Timeout: dialTimeout}
	conn, err := dialer.DialContext(p.context, "tcp", p.config.Upstream)
	if err != nil {
		return nil, &unreachable{fmt.Errorf("wire %s: connect to the server at %s: %w",
			p.config.Name, p.config.Upstream, err)}
	}
	return conn.(*net.TCPConn), nil
}

// unreachable is a server that can't be connected to.
type unreachable struct{ error }

// serve sees one connection from its first byte to its Closed event.
func (c *connection) serve() {
	defer c.proxy.serving.Done()
	hello, err := c.greet()
	var refused *refusal
	var down *unreachable
	switch {
	case errors.As(err, &refused):
	case err != nil:
	case hello.cancel:
		err = c.cancel(hello.packet)
	default:
		err = c.link(hello.packet)
	}
	switch {
	case refused != nil:
		c.say(refused.sqlState, refused.reason)
		_ = c.refuse(refused)
	case errors.As(err, &down):
		c.say("08006", down.Error())
	}
	c.end(FIN, fmt.Sprint(err))
	c.forget(hello.cancel)
}

// say tells the client why it is turned away, if there is a code for it.
func (c *connection) say(sqlState, reason string) {
	if sqlState != "" {
		text := fmt.Sprintf("wire %s: %s", c.proxy.config.Name, reason)
		_, _ = c.client.tcp.Write(errorResponse(sqlState, text)) // it may be gone already
	}
}

// refuse turns the connection away by name.
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

// forget takes the connection off the list and says that it is over. A CancelRequest was no
// connection in the listener's sense.
func (c *connection) forget(cancel bool) {
	c.proxy.mu.Lock()
	delete(c.proxy.connections, c.number)
	c.proxy.mu.Unlock()
	if !cancel {
		c.proxy.notify(Event{Kind: Closed, Conn: c.number, PID: c.pid(), Reason: c.why()})
	}
}

// command numbers what a unit asks of the server.
func (c *connection) command(u *unit) *Command {
	return &Command{ID: commands.Add(1), Conn: c.number, PID: c.pid(), Statements: u.statements}
}

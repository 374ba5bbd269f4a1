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
	"strings"
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
	Upstream string // host:port of the server, or the path of its Unix socket, which is faster

	// Notify hears of every event, before the bytes concerned go on. It is called from several
	// goroutines at once, and must not call Close.
	Notify func(Event)

	Toxics []Toxic // Toxiproxy's own, on every connection from its first byte

	// Requests says that the server speaks a protocol of one answer to one request at a time, such
	// as HTTP/1.1, and not PostgreSQL's. The wire doesn't read it: what a client sends until the
	// server's first byte is one command, which no gate holds and which faults can cut or rob of
	// its answer.
	Requests bool
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
			c.mute(Hang, "severed by hang")
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

func (p *Proxy) dial() (duplex, error) {
	dialer, network := net.Dialer{Timeout: dialTimeout}, "tcp"
	if strings.HasPrefix(p.config.Upstream, "/") {
		network = "unix"
	}
	conn, err := dialer.DialContext(p.context, network, p.config.Upstream)
	if err != nil {
		return nil, &unreachable{fmt.Errorf("wire %s: connect to the server at %s: %w",
			p.config.Name, p.config.Upstream, err)}
	}
	return conn.(duplex), nil
}

func (p *Proxy) forget(c *connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.connections, c.number)
}

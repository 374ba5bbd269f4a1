package main

import (
	"log"
	"log/slog"
	"net"
	"strings"
	"sync"
)

// crowdLimit accepts a bounded number of connections at a time, and with it bounds memory: each
// holds one body at most. Further ones wait in the system's queue.
type crowdLimit struct {
	net.Listener
	places chan struct{}
	closed chan struct{}
	close  func()
}

func newCrowdLimit(l net.Listener, limit int) net.Listener {
	closed := make(chan struct{})
	return &crowdLimit{l, make(chan struct{}, limit), closed,
		sync.OnceFunc(func() { close(closed) })}
}

// Accept is [net.Listener]'s.
func (l *crowdLimit) Accept() (net.Conn, error) {
	select {
	case l.places <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.places
		return nil, err
	}
	return &placed{conn, sync.OnceFunc(func() { <-l.places })}, nil
}

// Close is [net.Listener]'s.
func (l *crowdLimit) Close() error {
	l.close()
	return l.Listener.Close()
}

// placed is a connection that gives its place back when it is closed.
type placed struct {
	net.Conn
	leave func()
}

// Close is [net.Conn]'s.
func (c *placed) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// CloseWrite lets net/http end its side first, so that a sender it hangs up on can read why.
func (c *placed) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// quietLog is for net/http's own complaints. They quote requests and addresses, so only what they
// are about is kept.
func quietLog(to *slog.Logger) *log.Logger { return log.New(quiet{to}, "", 0) }

type quiet struct{ log *slog.Logger }

// Write is [io.Writer]'s.
func (q quiet) Write(line []byte) (int, error) {
	about := "other"
	for _, known := range []string{
		"Accept error", "TLS handshake error", "panic serving", "superfluous response.WriteHeader",
	} {
		if strings.Contains(string(line), known) {
			about = known
		}
	}
	q.log.Warn("http server", "about", about)
	return len(line), nil
}

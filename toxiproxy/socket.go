package toxiproxy

import (
	"net"
	"sync/atomic"
)

// socket is one end of a connection, as Toxiproxy's link sees it.
type socket struct {
	net     duplex
	conn    *connection
	name    string
	written atomic.Int64 // bytes
}

// A duplex is what a socket needs of a TCP or Unix connection.
type duplex interface {
	net.Conn
	CloseWrite() error
}

// Read is that of the socket; the link stops reading at the first error.
func (s *socket) Read(b []byte) (int, error) {
	n, err := s.net.Read(b[:min(len(b), s.conn.proxy.readLimit)])
	if err != nil {
		s.conn.parts.Done()
	}
	return n, err
}

// Write never fails: a link whose writer gives up leaks the goroutines in front of it. A write
// that fails ends the connection, and what comes later is swallowed.
func (s *socket) Write(b []byte) (int, error) {
	n, err := s.net.Write(b)
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
		if tcp, ok := s.net.(*net.TCPConn); ok { // as every client's end is
			_ = tcp.SetLinger(0) // fails only on a socket that is gone
		}
	} else {
		_ = s.net.CloseWrite()
	}
	_ = s.net.Close()
}

package mutation

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// A link joins clients to a server of PostgreSQL, and rewrites the SQL of what they send. It ends
// each side as the other one ended: by FIN or by RST.
type link struct {
	upstream string
	rewrite  func(string) string
	listener *net.TCPListener
	serving  sync.WaitGroup

	mu     sync.Mutex
	open   map[*net.TCPConn]struct{}
	closed bool
}

func openLink(upstream string, rewrite func(string) string) (*link, error) {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, fmt.Errorf("mutation: listen on 127.0.0.1: %w", err)
	}
	l := &link{
		upstream: upstream, rewrite: rewrite, listener: listener,
		open: map[*net.TCPConn]struct{}{},
	}
	l.serving.Go(l.accept)
	return l, nil
}

func (l *link) addr() string { return l.listener.Addr().String() }

// close ends everything, and returns when nothing of it runs any more.
func (l *link) close() {
	l.mu.Lock()
	l.closed = true
	for conn := range l.open {
		_ = conn.Close()
	}
	l.mu.Unlock()
	_ = l.listener.Close()
	l.serving.Wait()
}

func (l *link) accept() {
	for {
		client, err := l.listener.AcceptTCP()
		if err != nil {
			return // closed: what else can happen to it ends its tests by itself
		}
		l.serving.Go(func() { l.serve(client) })
	}
}

func (l *link) serve(client *net.TCPConn) {
	conn, err := net.Dial("tcp", l.upstream)
	if err != nil {
		_ = client.Close()
		return
	}
	server := conn.(*net.TCPConn)
	if !l.admit(client, server) {
		return
	}
	var down sync.WaitGroup
	down.Go(func() {
		_, err := io.Copy(client, server)
		end(client, err)
	})
	end(server, l.up(server, bufio.NewReader(client)))
	down.Wait()
	l.forget(client, server)
}

// admit enters both ends, unless the link is closed already.
func (l *link) admit(ends ...*net.TCPConn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range ends {
		if l.closed {
			_ = conn.Close()
		} else {
			l.open[conn] = struct{}{}
		}
	}
	return !l.closed
}

func (l *link) forget(ends ...*net.TCPConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range ends {
		delete(l.open, conn)
		_ = conn.Close()
	}
}

// end closes a side as the other one was seen to end.
func end(conn *net.TCPConn, err error) {
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
		_ = conn.SetLinger(0) // RST
	}
	_ = conn.Close()
}

// up carries what the client says, message by message.
func (l *link) up(server io.Writer, client *bufio.Reader) error {
	for typed := false; ; {
		m, err := readMessage(client, typed)
		if err != nil {
			return err
		}
		typed = typed || !m.asksForEncryption()
		if _, err := server.Write(m.rewritten(l.rewrite)); err != nil {
			return err
		}
	}
}

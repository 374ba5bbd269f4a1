package postgres

import (
	"bufio"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// control lets a child process that got the handover ask the server's owner for what only the
// owner can do. One request a connection: "TOKEN verb\n", answered by "ok\n" or "error\n" and a
// text up to the end. It ends with the owner, and so does the server.
type control struct {
	listener net.Listener
	token    string
	serving  sync.WaitGroup
}

// controlBound is how long a request may take, a crash recovery included.
const controlBound = 2 * time.Minute

func openControl(s *Server) (*control, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for child processes: %w", err)
	}
	c := &control{listener: l, token: newSecret()}
	c.serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			c.serving.Go(func() { c.serve(conn, s) })
		}
	})
	return c, nil
}

func (c *control) close() {
	c.listener.Close()
	c.serving.Wait()
}

func (c *control) serve(conn net.Conn, s *Server) {
	defer conn.Close()
	conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	line, err := bufio.NewReaderSize(io.LimitReader(conn, 256), 256).ReadString('\n')
	if err != nil {
		return
	}
	token, verb, _ := strings.Cut(strings.TrimSpace(line), " ")
	if subtle.ConstantTimeCompare([]byte(token), []byte(c.token)) != 1 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), controlBound)
	defer cancel()
	text, err := obey(ctx, s, verb)
	if err != nil {
		io.WriteString(conn, "error\n"+err.Error())
		return
	}
	io.WriteString(conn, "ok\n"+text)
}

func obey(ctx context.Context, s *Server, verb string) (string, error) {
	switch verb {
	case "kill":
		return "", s.Kill(ctx)
	case "restart":
		return "", s.Restart(ctx)
	case "log":
		return s.Log()
	}
	return "", fmt.Errorf("the server's owner does not know %q", verb)
}

// remote is the engine of a child process: it asks the owner.
type remote struct{ addr, token string }

func (r remote) kill(ctx context.Context) error {
	_, err := r.ask(ctx, "kill")
	return err
}

func (r remote) restart(ctx context.Context) error {
	_, err := r.ask(ctx, "restart")
	return err
}

// stop leaves the server to its owner.
func (r remote) stop(context.Context) error { return nil }

func (r remote) readLog() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), controlBound)
	defer cancel()
	return r.ask(ctx, "log")
}

func (r remote) ask(ctx context.Context, verb string) (string, error) {
	if r.addr == "" {
		return "", errors.New("not run: the server's owner takes no requests")
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp4", r.addr)
	if err != nil {
		return "", fmt.Errorf("ask the server's owner to %s: %w; it may have ended", verb, err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	io.WriteString(conn, r.token+" "+verb+"\n")
	answer, err := io.ReadAll(conn)
	if err != nil {
		return "", fmt.Errorf("ask the server's owner to %s: %w", verb, err)
	}
	word, text, _ := strings.Cut(string(answer), "\n")
	switch word {
	case "ok":
		return text, nil
	case "error":
		return "", errors.New(text)
	}
	return "", fmt.Errorf("ask the server's owner to %s: it hung up without an answer", verb)
}

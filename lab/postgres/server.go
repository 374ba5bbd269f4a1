// Package postgres gives disposable PostgreSQL servers: one that it starts from local binaries or
// in a container, or a server that its owner called disposable. Whatever it starts or creates is
// gone after Stop, and after a SIGKILL of its owner at the latest when the next server starts.
//
// The environment decides what Config leaves open:
//
//	LAB_POSTGRES         auto, container, local or a postgres:// URL
//	LAB_POSTGRES_IMAGE   the container's image instead of the pinned one
//	LAB_DISPOSABLE=1     the user's word that the server of the URL is disposable
//	LAB_KEEP=1           keep servers, and say how to reach and remove them
//	LAB_SERVER_HANDOVER  the server of the parent process
//	CI=true              as root, install a server where there is none
package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"sync"

	"github.com/jackc/pgx/v5"
)

// Ability is something that a test may need and not every server can do.
type Ability int

const (
	Crash           Ability = iota // kill -9 of the whole server, and its restart
	Signal                         // SIGSTOP and SIGCONT of single backends
	DeadlockTimeout                // setting deadlock_timeout
	Superuser                      // whatever else needs a superuser
)

// engine is what runs the server. Its three verbs may each be called once at a time.
type engine interface {
	kill(ctx context.Context) error
	restart(ctx context.Context) error
	stop(ctx context.Context) error
}

// Server is a running PostgreSQL under the lab's control. Its methods are safe for concurrent use.
type Server struct {
	engine   engine
	kind     string
	addr     string
	socket   string   // "" without one
	url      *url.URL // of any database: only the path varies
	base     string   // the database for administration
	origin   string   // binary, image or host, for Describe
	profile  Profile
	owner    string // in the name of every database of this run
	version  int
	release  string
	reasons  map[Ability]string
	progress func(string)
	readLog  func() (string, error)

	power   sync.Mutex // serialises Kill, Restart and Stop
	mu      sync.Mutex
	created map[string]struct{} // databases that this process created
	control *control            // opened by the first Handover
}

// Describe is one line: release, kind, image or binary, profile.
func (s *Server) Describe() string {
	if s.kind == "dsn" {
		return fmt.Sprintf("PostgreSQL %s · %s · its own settings", s.release, s.origin)
	}
	return fmt.Sprintf("PostgreSQL %s · %s · %s", s.release, s.origin, s.profile)
}

// Version is the server's server_version_num, such as 150018.
func (s *Server) Version() int { return s.version }

// Kind is "container", "local" or "dsn".
func (s *Server) Kind() string { return s.kind }

// Addr is the host:port where the server listens for TCP. It stays the same across Restart.
func (s *Server) Addr() string { return s.addr }

// DSN is the postgres:// URL of a database, without TLS. On servers that the lab started its user
// is a superuser.
func (s *Server) DSN(database string) string {
	u := *s.url
	u.Path = "/" + database
	return u.String()
}

// Socket is the path of the Unix socket under which this process reaches the server as well, "" if
// there is none. It takes a quarter off every round trip.
func (s *Server) Socket() string { return s.socket }

// Near makes a connection of this process take the socket, if there is one. s may be nil.
func (s *Server) Near(c *pgx.ConnConfig) {
	if s != nil && s.socket != "" {
		c.Host, c.Fallbacks = filepath.Dir(s.socket), nil
	}
}

// Can is nil when the server has the ability, else an error that says why a test was not run.
func (s *Server) Can(a Ability) error {
	if reason, lacking := s.reasons[a]; lacking {
		return errors.New("not run: " + reason)
	}
	return nil
}

// Kill ends the postmaster and all its children by SIGKILL, and returns when none is left.
func (s *Server) Kill(ctx context.Context) error {
	if err := s.Can(Crash); err != nil {
		return err
	}
	s.power.Lock()
	defer s.power.Unlock()
	return s.engine.kill(ctx)
}

// Restart starts the killed server again, on the same address, and returns when it has recovered.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.Can(Crash); err != nil {
		return err
	}
	s.power.Lock()
	defer s.power.Unlock()
	return s.engine.restart(ctx)
}

// Log is the server's own log so far.
func (s *Server) Log() (string, error) { return s.readLog() }

// Stop ends the server and removes all that belongs to it. With LAB_KEEP=1 it keeps the server
// instead, says through Progress where it is and how to remove it, and no sweep will touch it.
// Stopping a server that was handed over drops the databases that this process created.
func (s *Server) Stop(ctx context.Context) error {
	s.mu.Lock()
	ear := s.control
	s.control = nil
	s.mu.Unlock()
	if ear != nil {
		ear.close()
	}
	s.power.Lock()
	defer s.power.Unlock()
	if _, attached := s.engine.(remote); attached && !keepRequested() {
		return s.dropCreated(ctx)
	}
	return s.engine.stop(ctx)
}

// connect opens a direct connection, outside any wire.
func (s *Server) connect(ctx context.Context, database string) (*pgx.Conn, error) {
	conf, err := ParseConfig(s.DSN(database))
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, conf)
	if err != nil {
		return nil, fmt.Errorf("connect to database %s on %s: %w", database, s.addr, err)
	}
	return conn, nil
}

// administer runs statements on a connection of their own to the administration database: such
// connections are few, and keeping none means that a crash of the server breaks none.
func (s *Server) administer(ctx context.Context, do func(*pgx.Conn) error) error {
	conn, err := s.connect(ctx, s.base)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return do(conn)
}

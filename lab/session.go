package lab

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"webhooklab/lab/postgres"
	"webhooklab/toxiproxy"
)

// A Session is a named actor with a wire of its own. It delivers events or runs SQL, and moves
// only when it is told: each of its commands is held on arrival until a verb releases it.
//
// Verbs fail the scenario at the line that called them; they return the session, so that one line
// can read as one sentence.
type Session struct {
	Name string

	lab   *Lab
	key   string // name and settings: what a kept session is found by
	wire  *toxiproxy.Proxy
	dsn   string
	own   []Setting // run-time parameters that it was opened with, by name
	lanes []*lane   // the oldest connection first

	mu       sync.Mutex
	receiver Receiver // made by the first operation, in its own goroutine
	todo     chan func()

	outcomes []string // of the acts of a program, so far
	active   bool     // an operation is in progress
	ended    bool     // it has ended, and nobody asked for its answer yet
	answer   Answer
	err      error
	cancel   context.CancelFunc

	shown   string // the wait that the transcript shows last
	changes []change
	span    span
	spoiled bool // a fault went through its wire: not kept for the next run
}

// A lane is one connection of a session's wire. Most receivers use one at a time.
type lane struct {
	conn    int
	pid     uint32
	state   laneState
	sent    bool // its command has left for the server
	command toxiproxy.Command
	tx      byte
	wait    Wait
	dying   bool // cut or closed: its backend's locks go when the backend does

	// For exploration.
	begin      string // what began its transaction
	wrote      bool   // its transaction has changed something
	failed     bool   // its last command got an error
	deadlocked bool   // … because PostgreSQL chose it as the victim
	frozen     bool   // its backend is stopped
	sqlState   string // of its last error
	inside     inside
	prepared   bool // a local command has followed the last step: parsing locks relations too
}

type laneState int

const (
	laneReady laneState = iota
	laneHeld
	laneRunning
	laneBlocked
	laneGated // its statement stands at a gate inside PostgreSQL
	laneCut
)

// A Setting is a run-time parameter that a session's connections start with, as a role or a
// database may set it.
type Setting struct{ Name, Value string }

// Session returns the session of this name, made at its first mention in the run.
func (l *Lab) Session(name string, settings ...Setting) *Session {
	for _, s := range l.sessions {
		if s.Name == name {
			return s
		}
	}
	key := fmt.Sprint(name, settings)
	s := l.kept[key]
	delete(l.kept, key)
	if s == nil {
		var err error
		if s, err = l.open(name, settings); err != nil {
			l.give(VerdictUnknown, "open session %s: %v", name, err)
		}
		s.key = key
	}
	l.sessions = append(l.sessions, s)
	return s
}

// Sessions makes n sessions: copy_1, copy_2, …
func (l *Lab) Sessions(name string, n int) []*Session {
	all := make([]*Session, n)
	for i := range all {
		all[i] = l.Session(fmt.Sprintf("%s_%d", name, i+1))
	}
	return all
}

func (l *Lab) open(name string, settings []Setting) (*Session, error) {
	s := &Session{Name: name, lab: l}
	u, err := url.Parse(l.cfg.DSN)
	if err != nil {
		return nil, fmt.Errorf("lab: the database's URL: %w", err)
	}
	upstream := u.Host
	if l.cfg.Server != nil && l.cfg.Server.Socket() != "" {
		upstream = l.cfg.Server.Socket()
	}
	s.wire, err = toxiproxy.Open(toxiproxy.Config{
		Name:     name,
		Upstream: upstream,
		Toxics:   l.cfg.Toxics,
		Notify:   func(e toxiproxy.Event) { l.mail.put(happening{session: s, wire: e}) },
	})
	if err != nil {
		return nil, err
	}
	u.Host = s.wire.Addr()
	q := u.Query()
	q.Set("sslmode", "disable")
	for _, p := range settings {
		q.Set(p.Name, p.Value)
	}
	u.RawQuery = q.Encode()
	s.dsn = u.String()
	s.own = s.settings()
	return s, nil
}

// start begins an operation; its commands are held from the first on.
func (s *Session) start(what string, op func(context.Context) (Answer, error)) *Session {
	l := s.lab
	if s.active || s.ended {
		l.give(VerdictUnknown, "%s is told to %s before its last answer was asked for", s.Name, what)
	}
	ctx, cancel := context.WithCancel(l.ctx) // each step is bounded, the whole is not
	s.cancel, s.active, s.span = cancel, true, span{}
	l.line("%s: %s", s.Name, what)
	l.trace.does(s.Name, l.plain(what))
	s.wire.Gate(true)
	s.work(func() {
		a, err := guarded(ctx, op)
		cancel()
		l.mail.put(happening{session: s, ended: true, answer: a, err: err})
	})
	l.settle(nil)
	return s
}

// work has the session's own goroutine do something. It stays for the next time, with the stack
// that it has grown.
func (s *Session) work(do func()) {
	if s.todo == nil {
		todo := make(chan func(), 1)
		s.todo = todo
		go func() {
			for do := range todo {
				do()
			}
		}()
	}
	s.todo <- do
}

// guarded turns a panic of the system under test into an error: its sender learned nothing.
func guarded(
	ctx context.Context, op func(context.Context) (Answer, error),
) (a Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			a, err = Unknown, fmt.Errorf("it panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return op(ctx)
}

// Deliver hands one event to the session's receiver, which runs up to its first command.
func (s *Session) Deliver(d Delivery) *Session {
	l := s.lab
	name := d.String()
	if d.Source != "" {
		name = d.Source + " " + name
	}
	return s.start("deliver "+name, func(ctx context.Context) (Answer, error) {
		r, err := s.open(ctx)
		if err != nil {
			return Unknown, err
		}
		return l.History.Record(s.Name, r).Receive(ctx, l.fresh(d))
	})
}

// Do has the session's receiver do something else than receive: work, recover, send. The op finds
// the ability by type assertion.
func (s *Session) Do(what string, op func(context.Context, Receiver) (Answer, error)) *Session {
	return s.start(what, func(ctx context.Context) (Answer, error) {
		r, err := s.open(ctx)
		if err != nil {
			return Unknown, err
		}
		return op(ctx, r)
	})
}

func (s *Session) open(ctx context.Context) (Receiver, error) {
	if r := s.opened(); r != nil {
		return r, nil
	}
	r, err := s.lab.cfg.New(ctx, s.dsn)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.receiver = r
	return r, nil
}

func (s *Session) opened() Receiver {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.receiver
}

// Send delivers one event without stepping it, and returns what the sender learned: for runs in
// which only the end matters.
func (s *Session) Send(d Delivery) Answer { return s.Deliver(d).unstepped() }

// Does is Do without stepping: it returns the answer.
func (s *Session) Does(
	what string, op func(context.Context, Receiver) (Answer, error),
) Answer {
	return s.Do(what, op).unstepped()
}

func (s *Session) unstepped() Answer {
	s.lab.unstepped(s)
	s.ended = false
	return s.answer
}

// Runs sends SQL as a person would at a prompt: one command for each string, the first error ends
// it and the connection.
func (s *Session) Runs(sql ...string) *Session {
	return s.start("run SQL", func(ctx context.Context) (Answer, error) {
		return s.runSQL(ctx, sql)
	})
}

func (s *Session) runSQL(ctx context.Context, sql []string) (Answer, error) {
	cfg, err := postgres.ParseConfig(s.dsn)
	if err != nil {
		return Unknown, err
	}
	conn, err := pgconn.ConnectConfig(ctx, &cfg.Config)
	if err != nil {
		return Unknown, err
	}
	defer closeConn(conn)
	for _, q := range sql {
		_, err := conn.Exec(ctx, q).ReadAll()
		if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) {
			return SQLError(pg.Code), nil
		}
		if err != nil {
			return Unknown, err
		}
	}
	return Done, nil
}

func closeConn(c *pgconn.PgConn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.Close(ctx)
}

// close ends the session's receiver and wire. Nothing of it is left when close returns.
func (s *Session) close() {
	if c, ok := s.opened().(interface{ Close() }); ok {
		s.wire.Gate(false)
		if s.spoiled {
			s.wire.Sever(toxiproxy.FIN)
		}
		c.Close()
	}
	_ = s.wire.Close()
	if s.todo != nil {
		close(s.todo)
		s.todo = nil
	}
}

// held is the lane whose command waits to be released, nil when there is none.
func (s *Session) held() *lane { return s.first(laneHeld) }

func (s *Session) first(state laneState) *lane {
	for _, ln := range s.lanes {
		if ln.state == state {
			return ln
		}
	}
	return nil
}

// opens enters a lane at its place: which of two connections opens first is nobody's choice.
func (s *Session) opens(ln *lane) {
	i := slices.IndexFunc(s.lanes, func(other *lane) bool { return other.conn > ln.conn })
	if i < 0 {
		i = len(s.lanes)
	}
	s.lanes = slices.Insert(s.lanes, i, ln)
}

// lane is that of a connection, nil if it has none.
func (s *Session) lane(conn int) *lane {
	for _, ln := range s.lanes {
		if ln.conn == conn {
			return ln
		}
	}
	return nil
}

// living counts the lanes whose connections are open, as far as the wire has told.
func (s *Session) living() (n int) {
	for _, ln := range s.lanes {
		if !ln.dying {
			n++
		}
	}
	return n
}

// bury forgets the lanes whose connections are gone.
func (s *Session) bury() {
	s.lanes = slices.DeleteFunc(s.lanes, func(ln *lane) bool { return ln.dying })
}

// thinking: the client's own code runs, and an event is sure to come.
func (s *Session) thinking() bool {
	return s.active && s.first(laneHeld) == nil && s.first(laneRunning) == nil &&
		s.first(laneBlocked) == nil && s.first(laneGated) == nil
}

// status says in words where the session is.
func (s *Session) status() string {
	switch {
	case s.ended:
		return fmt.Sprintf("finished: %s%s", s.answer, because(s.err))
	case s.held() != nil:
		return "held before " + s.held().command.Label()
	case s.first(laneGated) != nil:
		return "inside " + s.first(laneGated).command.Label()
	case s.first(laneBlocked) != nil:
		ln := s.first(laneBlocked)
		return fmt.Sprintf("waiting in %s for %s: %s",
			ln.command.Label(), s.lab.names(ln.wait.Blockers), ln.wait)
	case s.first(laneRunning) != nil:
		return "still running " + s.first(laneRunning).command.Label()
	case s.active:
		return "busy in its own code"
	}
	return "idle"
}

func because(err error) string {
	if err == nil {
		return ""
	}
	return " (" + err.Error() + ")"
}

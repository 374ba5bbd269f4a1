package lab

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"webhooklab/lab/postgres"
	"webhooklab/toxiproxy"
)

// Config says what a lab works on.
type Config struct {
	DSN    string           // a database of the lab's own; a clone of the template
	Server *postgres.Server // what it can do decides what is run; nil: nothing special
	New    NewReceiver
	State  State       // nil: ReferenceState
	Own    bool        // the receiver's tables are not those of schema.sql
	Laws   []Invariant // demanded after every run
	Reset  string      // SQL before each run, where runs would see each other's rows
	Seed   uint64
	Bound  time.Duration     // of one step; 0: 30 s, only ever used up by what is stuck
	Toxics []toxiproxy.Toxic // stock toxics on every wire
	Rows   bool              // read the receiver's tables after every commit, for the trace

	// Twin opens one more lab like this one, on a database of its own that drop removes once the
	// twin is closed. Long explorations and sweeps ask for it, and then call New, and what a
	// program does before and after, from several goroutines. nil: they have only this lab.
	Twin func(context.Context) (twin *Lab, drop func(context.Context) error, err error)
}

// A Lab runs scenarios, one at a time, on one database. It is not safe for concurrent use.
type Lab struct {
	// History records the run in progress.
	History *History

	cfg      Config
	ctx      context.Context
	observer *observer
	cleaner  *observer // opened by the first Reset
	mail     *mailbox
	printer  *footprinter // opened by the first reduced exploration of this lab
	prints   *footprinter // of a reduced exploration, in its runs
	gates    *gates       // placed by the first gated exploration
	kept     map[string]*Session

	experience experience // of the steps of programs
	explored   int        // runs that its explorations have asked for
	twins      []twin

	// of the run in progress
	law        string
	run        string
	sources    map[string]string // fresh name → stable name
	sessions   []*Session
	transcript strings.Builder
	schedule   []string
	waits      []ProvedWait
	offences   []Offence
	overlaps   int
	free       bool
	trace      tracer
	down       bool // the server was killed and not started again
	steered    *steering
}

// runs gives every run in the process sources of its own, so that runs may share a database.
var runs atomic.Uint64

// Open connects the lab's observer. Close the lab when done.
func Open(ctx context.Context, cfg Config) (*Lab, error) {
	if cfg.State == nil {
		cfg.State = ReferenceState
	}
	if cfg.Bound == 0 {
		cfg.Bound = 30 * time.Second
	}
	o, err := openObserver(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &Lab{
		History: NewHistory(), cfg: cfg, ctx: ctx, observer: o, mail: newMailbox(),
		kept: map[string]*Session{}, sources: map[string]string{}, experience: experience{},
	}, nil
}

// Close ends every session and the observer.
func (l *Lab) Close() {
	for _, s := range l.sessions {
		s.close()
	}
	for _, s := range l.kept {
		s.close()
	}
	l.sessions, l.kept = nil, nil
	l.observer.close()
	l.closeCleaner()
	l.closePrints()
	l.part()
	if l.gates != nil {
		l.gates.close()
	}
}

// Source is the name under which deliveries of this source reach the receiver in this run; SQL
// that a scenario writes by hand needs it.
func (l *Lab) Source(stable string) string {
	fresh := stable + "~" + l.run
	if stable == "" || len(fresh) > 255 {
		fresh = stable // at the limits of the contract the exact text matters
	}
	l.sources[fresh] = stable
	return fresh
}

func (l *Lab) fresh(d Delivery) Delivery {
	d.Source = l.Source(d.Source)
	return d
}

// plain puts the stable names back.
func (l *Lab) plain(text string) string { return strings.ReplaceAll(text, "~"+l.run, "") }

// begin clears what belonged to the last run.
func (l *Lab) begin(ctx context.Context, law string) {
	l.drain()
	l.ctx, l.law = ctx, law
	l.run = strconv.FormatUint(runs.Add(1), 36) + "~"
	l.History = NewHistory()
	l.trace.begin("~" + l.run)
	l.sources = map[string]string{}
	l.sessions, l.schedule, l.waits, l.offences = nil, nil, nil, nil
	l.transcript.Reset()
	l.overlaps, l.free = 0, false
	if err := l.reconnect(ctx); err != nil {
		l.blame(VerdictUnknown, "%v", err)
		return
	}
	if l.cfg.Reset == "" {
		return
	}
	if err := l.reset(ctx); err != nil {
		l.blame(VerdictUnknown, "reset the database: %v", err)
	}
}

// reconnect opens the observer anew if its connection is lost: with its server, or by a question
// that was interrupted.
func (l *Lab) reconnect(ctx context.Context) error {
	if l.down || !l.observer.conn.IsClosed() {
		return nil
	}
	o, err := openObserver(ctx, l.cfg)
	if err != nil {
		return err
	}
	l.observer = o
	return nil
}

// reset runs Config.Reset, on a connection of its own: how it gets past the tables' triggers may
// cost a connection the plans that it has kept.
func (l *Lab) reset(ctx context.Context) error {
	if l.cleaner == nil || l.cleaner.conn.IsClosed() {
		c, err := openObserver(ctx, l.cfg)
		if err != nil {
			return err
		}
		l.cleaner = c
	}
	_, err := l.cleaner.conn.Exec(ctx, l.cfg.Reset)
	return err
}

func (l *Lab) closeCleaner() {
	if l.cleaner != nil {
		l.cleaner.close()
		l.cleaner = nil
	}
}

// SQL runs a statement of the scenario's own on the direct connection: a backfill, a trigger.
func (l *Lab) SQL(sql string, args ...any) {
	l.Quietly(sql, args...)
	l.line("(%s)", strings.Join(strings.Fields(sql), " "))
}

// Quietly is SQL that the transcript doesn't show.
func (l *Lab) Quietly(sql string, args ...any) {
	l.trace.own(sql, args)
	if err := l.exec(l.ctx, sql, args...); err != nil {
		l.give(VerdictUnknown, "the scenario's own SQL: %v", err)
	}
}

// Exec runs a statement on the direct connection between two runs. From then on the lab works
// alone: a twin's database would not be like this one.
func (l *Lab) Exec(ctx context.Context, sql string, args ...any) error {
	l.part()
	l.cfg.Twin = nil
	return l.exec(ctx, sql, args...)
}

func (l *Lab) exec(ctx context.Context, sql string, args ...any) error {
	l.observer.mu.Lock()
	defer l.observer.mu.Unlock()
	_, err := l.observer.conn.Exec(ctx, sql, args...)
	return err
}

// Context is that of the run in progress.
func (l *Lab) Context() context.Context { return l.ctx }

// Kill ends the server the hard way and starts it again on the same address.
func (l *Lab) Kill() {
	l.Down()
	l.Up()
}

// Down ends the server the hard way, and with it every connection.
func (l *Lab) Down() {
	if l.cfg.Server == nil {
		l.give(VerdictNotRun, "the lab was given no server that it may kill")
	}
	if err := l.cfg.Server.Can(postgres.Crash); err != nil {
		l.give(VerdictNotRun, "%v", err)
	}
	l.line("(server killed)")
	l.part()
	l.down = true
	if err := l.cfg.Server.Kill(l.ctx); err != nil {
		l.give(VerdictUnknown, "kill the server: %v", err)
	}
	for _, s := range l.kept { // their idle connections are dead
		s.close()
	}
	clear(l.kept)
	l.closeCleaner()
	l.fallen()
}

// Up starts the server again, on the same address.
func (l *Lab) Up() {
	l.line("(server started)")
	if err := l.restart(); err != nil {
		l.give(VerdictUnknown, "start the server again: %v", err)
	}
}

func (l *Lab) restart() error {
	if err := l.cfg.Server.Restart(l.ctx); err != nil {
		return err
	}
	l.down = false
	l.observer.close()
	err := l.reconnect(l.ctx)
	if err == nil && l.gates != nil {
		err = l.gates.connect(l.ctx, l.cfg)
	}
	return err
}

// fallen waits until no connection of before the kill is left anywhere.
func (l *Lab) fallen() {
	for _, ln := range l.lanes(laneCut) {
		if _, s := l.laneOf(ln.pid); !ln.dying {
			s.wire.Sever(toxiproxy.FIN) // it was left hanging: nobody is there any more to hang on
		}
	}
	l.poll("the killed server's connections to fall", func() (bool, error) {
		l.drain()
		open := 0
		for _, s := range l.sessions {
			s.spoiled = true
			open += s.living()
		}
		return open == 0, nil
	})
	l.settle(nil)
}

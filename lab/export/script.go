package export

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"webhooklab/lab"
	"webhooklab/toxiproxy"
)

// A terminal is one connection: where a session had several, each is one.
type terminal struct {
	name     string
	session  string // "" is the lab itself
	settings []lab.Setting
	open     bool // left inside a transaction at the end
	cut      bool // its connection ended before the script does
}

// A line is one thing to do in one terminal, or one that only the lab can do.
type line struct {
	terminal *terminal // nil: told in words only
	sql      []string  // statements of one message
	label    string
	words    string   // what is done, where SQL can't say it
	quits    bool     // the terminal's connection ends here
	kills    bool     // every connection ends here
	inside   bool     // it quits inside a transaction
	told     []string // what sessions are told to do before it
	answers  []string // what sessions have answered after it

	at      time.Duration
	end     time.Duration     // 0: never
	waits   []lab.TracedWait  // proved, in their order
	want    *toxiproxy.Answer // nil: it must only succeed
	lost    bool              // nobody knows its result
	until   int               // the line after which it is done; len(lines): never
	kept    bool              // it was rehearsed, and returned:
	notices []string
	results []result
	failure *failure
}

// writer turns a trace into lines.
type writer struct {
	script  *Script
	trace   *lab.Trace
	lits    literals
	byConn  map[connection]*terminal
	pending map[connection][]*line // local commands, kept for the next that is not
	status  map[connection]byte    // of the transaction
}

type connection struct {
	session string
	conn    int
}

// write makes the lines of the script.
func (s *Script) write(ctx context.Context, t *lab.Trace, lits literals) error {
	for _, m := range t.Marks {
		if strings.Contains(m.Text, "released together") {
			return noScript("its sessions ran freely, so no schedule says what came when")
		}
	}
	w := &writer{script: s, trace: t, lits: lits, byConn: map[connection]*terminal{},
		pending: map[connection][]*line{}, status: map[connection]byte{}}
	for _, e := range w.events() {
		if e.at > w.stopped() {
			break
		}
		if err := e.write(ctx); err != nil {
			return err
		}
	}
	for c, status := range w.status {
		w.byConn[c].open = status == 'T' || status == 'E'
	}
	w.fixVictims()
	w.tellOperations()
	w.timeEnds()
	return w.judge()
}

// stopped is when the judge ended the run, if it did: what came afterwards only cleaned up.
func (w *writer) stopped() time.Duration {
	for _, m := range w.trace.Marks {
		if strings.HasPrefix(m.Text, "stopped: ") {
			return m.At
		}
	}
	return math.MaxInt64
}

// An event is something of the trace that may become a line.
type event struct {
	at    time.Duration
	write func(context.Context) error
}

// events are all of them, in the order in which they happened.
func (w *writer) events() (all []event) {
	add := func(at time.Duration, write func(context.Context) error) {
		all = append(all, event{at, write})
	}
	for i, c := range w.trace.Commands {
		if at := cmp.Or(c.Sent, c.Struck); at > 0 {
			add(at, func(ctx context.Context) error { return w.command(ctx, i) })
		}
		if c.Sent > 0 && c.Struck > 0 {
			add(c.Struck, func(context.Context) error { return w.cut(c) })
		}
	}
	for _, own := range w.trace.Own {
		add(own.At, func(ctx context.Context) error { return w.own(ctx, own) })
	}
	for _, m := range w.trace.Marks {
		if strings.HasPrefix(m.Text, "server ") {
			add(m.At, func(context.Context) error { return w.server(m) })
		}
	}
	for _, end := range w.trace.Ends {
		add(end.At, func(context.Context) error { return w.left(end) })
	}
	slices.SortStableFunc(all, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	return all
}

// command adds the line of a command. Commands that only prepare wait for the next one of their
// connection: when exactly they passed by is chance, and means nothing.
func (w *writer) command(ctx context.Context, i int) error {
	c := w.trace.Commands[i]
	where := connection{c.Session, c.Conn}
	if c.Sent == 0 {
		return w.cut(c)
	}
	sql, err := w.lits.spoken(ctx, c)
	if err != nil || len(sql) == 0 {
		return err
	}
	l := &line{terminal: w.terminal(where), sql: sql, label: c.Label, at: c.Sent, end: c.End(),
		lost: c.Answered == 0 && !executed(c)}
	if l.end > w.stopped() {
		l.end, l.lost = 0, true
	}
	if executed(c) {
		l.end = c.Struck - 1 // before its connection's own end
	}
	if c.Local {
		w.pending[where] = append(w.pending[where], l)
		return nil
	}
	if !l.lost {
		l.want = &w.trace.Commands[i].Answer
		w.status[where] = c.Answer.TxStatus
	}
	for _, wait := range w.trace.Waits {
		if wait.CommandIndex == i {
			l.waits = append(l.waits, wait)
		}
	}
	for _, before := range w.pending[where] {
		before.at, before.end = l.at, l.at
		w.script.lines = append(w.script.lines, before)
	}
	delete(w.pending, where)
	w.script.lines = append(w.script.lines, l)
	return nil
}

func executed(c lab.TracedCommand) bool { return strings.HasPrefix(c.Fault, "executed") }

// cut adds the line in which a connection ends by a fault.
func (w *writer) cut(c lab.TracedCommand) error {
	where := connection{c.Session, c.Conn}
	words := "the connection is cut; " + c.Label + " never reaches the server"
	switch {
	case executed(c):
		words = "the connection is cut; the answer to " + c.Label + " never reaches " + c.Session
	case c.Sent > 0:
		words = "the connection is cut while " + c.Label + " runs"
	}
	w.quit(where, words, c.Struck)
	return nil
}

// left adds a line for a client that went away by itself, if it did so inside a transaction.
func (w *writer) left(e lab.TracedEnd) error {
	where := connection{e.Session, e.Conn}
	if w.status[where] == 'T' {
		w.quit(where, "the client leaves inside its transaction", e.At)
	}
	return nil
}

func (w *writer) quit(where connection, words string, at time.Duration) {
	delete(w.pending, where) // what was only begun ends with the connection
	t := w.byConn[where]
	if t == nil || t.cut {
		return // nothing of it was ever shown
	}
	l := &line{terminal: t, words: words, quits: true, inside: w.status[where] == 'T', at: at}
	t.cut = true
	w.status[where] = 'I'
	w.script.lines = append(w.script.lines, l)
}

// own adds a statement of the scenario's own.
func (w *writer) own(ctx context.Context, own lab.TracedSQL) error {
	sql, err := w.lits.own(ctx, own)
	if err != nil {
		return err
	}
	l := &line{terminal: w.terminal(connection{}), sql: []string{sql}, label: "SQL",
		at: own.At, end: own.At}
	w.script.lines = append(w.script.lines, l)
	return nil
}

// server adds a line for the death of the server. Its start follows at once.
func (w *writer) server(m lab.TracedMark) error {
	if m.Text != "server killed" {
		return nil
	}
	for where, t := range w.byConn {
		t.cut, w.status[where] = true, 'I'
		delete(w.pending, where)
	}
	w.script.unfit = "the server is killed, which no step of it can do"
	w.script.lines = append(w.script.lines, &line{kills: true, at: m.At, words: "the server is " +
		"killed (kill -9 of all its processes) and started again; every terminal loses its connection"})
	return nil
}

// terminal is that of this connection, named at its first line.
func (w *writer) terminal(where connection) *terminal {
	if t := w.byConn[where]; t != nil {
		return t
	}
	t := &terminal{session: where.session, name: identifier(cmp.Or(where.session, "lab"))}
	for n, stem := 2, t.name; w.taken(t.name); n++ {
		t.name = fmt.Sprintf("%s_%d", stem, n)
	}
	for _, s := range w.trace.Settings {
		if s.Session == where.session && where.session != "" {
			t.settings = append(t.settings, s.Setting)
		}
	}
	w.byConn[where] = t
	w.script.terminals = append(w.script.terminals, t)
	return t
}

func (w *writer) taken(name string) bool {
	return slices.ContainsFunc(w.script.terminals, func(t *terminal) bool { return t.name == name })
}

// identifier makes of any text one that the isolation tester reads as a name.
func identifier(text string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(text))
	reserved := []string{"notices", "permutation", "session", "setup", "step", "teardown"}
	if slices.Contains(reserved, name) || name == "" || name[0] >= '0' && name[0] <= '9' {
		return "_" + name
	}
	return name
}

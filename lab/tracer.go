package lab

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"webhooklab/toxiproxy"
)

// A tracer writes the trace of the run in progress. Between runs it has none, and writes nothing.
type tracer struct {
	trace     *Trace
	began     time.Time
	at        map[uint64]int  // a command's id → its index
	ops       map[string]int  // a session → the operation in progress
	committed uint64          // the last command that committed, if its rows are still to be read
	conns     map[connKey]int // kept wires go on counting; a trace counts from 1
}

type connKey struct {
	session string
	conn    int
}

func (t *tracer) begin(fresh string) {
	*t = tracer{
		trace: &Trace{Fresh: fresh}, began: time.Now(), at: map[uint64]int{},
		ops: map[string]int{}, conns: map[connKey]int{},
	}
}

// since is the time of something that happened at all: never 0.
func (t *tracer) since(at time.Time) time.Duration { return max(1, at.Sub(t.began)) }

// saw adds what a wire event says of a command.
func (t *tracer) saw(session string, e toxiproxy.Event) {
	if t.trace == nil {
		return
	}
	if e.Kind == toxiproxy.Closed {
		t.closed(session, e)
		return
	}
	if e.Command.ID == 0 {
		return
	}
	c, at := t.command(session, e), t.since(e.At)
	switch e.Kind {
	case toxiproxy.Held:
		c.Held, c.seq = at, e.Seq
	case toxiproxy.Sent:
		c.Sent, c.seq = at, e.Seq
	case toxiproxy.Answered:
		c.Answered, c.Answer = at, e.Answer
	case toxiproxy.Fired:
		c.Struck, c.Answer, c.Fault, c.by = at, e.Answer, lost(e.Fault), e.Fault
		if c.Sent == 0 {
			c.seq = e.Seq
		}
	}
	if e.Answer.Committed() && !c.Local {
		t.committed = e.Command.ID
	}
}

func lost(f *toxiproxy.Fault) string {
	if f.At == toxiproxy.AfterCommand {
		return "executed, acknowledgement lost (" + f.Close.String() + ")"
	}
	return "request lost (" + f.Close.String() + ")"
}

// command is the entry of the event's command, made at its first mention.
func (t *tracer) command(session string, e toxiproxy.Event) *TracedCommand {
	i, known := t.at[e.Command.ID]
	if !known {
		i = len(t.trace.Commands)
		t.at[e.Command.ID] = i
		t.trace.Commands = append(t.trace.Commands, TracedCommand{
			Session: session, Conn: t.conn(session, e.Conn), PID: e.PID,
			Label: e.Command.Label(), Local: e.Command.Local(),
			Statements: e.Command.Statements,
		})
	}
	return &t.trace.Commands[i]
}

func (t *tracer) conn(session string, conn int) int {
	key := connKey{session, conn}
	if t.conns[key] == 0 {
		n := 1
		for other := range t.conns {
			if other.session == session {
				n++
			}
		}
		t.conns[key] = n
	}
	return t.conns[key]
}

// closed: what was under way on this connection has met its end.
func (t *tracer) closed(session string, e toxiproxy.Event) {
	n, known := t.conns[connKey{session, e.Conn}]
	if !known {
		return
	}
	t.trace.Ends = append(t.trace.Ends, TracedEnd{session, n, t.since(e.At)})
	for i := range t.trace.Commands {
		c := &t.trace.Commands[i]
		if c.Session == session && c.Conn == n && c.End() == 0 {
			c.Struck, c.Fault = t.since(e.At), "connection closed: "+e.Reason
			if c.Sent == 0 {
				c.seq = e.Seq
			}
		}
	}
}

// released notes which step let a held command go.
func (t *tracer) released(c toxiproxy.Command, step int) {
	if i, known := t.at[c.ID]; known {
		t.trace.Commands[i].Step = step
	}
}

// waits adds a wait that was proved just now. It ends the one before it of the same command.
func (t *tracer) waits(p ProvedWait, c toxiproxy.Command) {
	if t.trace == nil {
		return
	}
	now := t.since(time.Now())
	for i := range t.trace.Waits {
		if w := &t.trace.Waits[i]; w.id == c.ID && w.To == 0 {
			w.To = now
		}
	}
	t.trace.Waits = append(t.trace.Waits, TracedWait{
		Session: p.Session, Command: p.Command, For: p.For, Wait: p.Wait, From: now, id: c.ID,
	})
}

// does and did are the two ends of an operation.
func (t *tracer) does(session, what string) {
	if t.trace == nil {
		return
	}
	t.ops[session] = len(t.trace.Operations)
	t.trace.Operations = append(t.trace.Operations,
		TracedOperation{Session: session, What: what, Began: t.since(time.Now())})
}

func (t *tracer) did(session string, a Answer, err error) {
	i, open := t.ops[session]
	if t.trace == nil || !open {
		return
	}
	delete(t.ops, session)
	op := &t.trace.Operations[i]
	op.Ended, op.Answer = t.since(time.Now()), a.String()
	if err != nil {
		op.Error = err.Error()
	}
}

// mark keeps a line of the transcript in which the lab tells what it did itself: "(server killed)",
// "first: dies, held before COMMIT".
func (t *tracer) mark(line string) {
	if t.trace == nil || !strings.HasPrefix(line, "(") && !strings.Contains(line, ": dies, ") &&
		!strings.Contains(line, ": leaves, ") {
		return
	}
	own := markLine.FindStringSubmatch(line)
	if own == nil {
		return
	}
	t.trace.Marks = append(t.trace.Marks, TracedMark{
		At: t.since(time.Now()), Text: own[1] + own[2],
		Fault: own[1] == serverKilled || strings.Contains(own[2], ": dies, "),
	})
}

// hop marks a fault that struck no command: it was on a wire of the scenario's own.
func (t *tracer) hop(session string, f *toxiproxy.Fault) {
	if t.trace == nil || slices.ContainsFunc(t.trace.Commands,
		func(c TracedCommand) bool { return c.by == f }) {
		return
	}
	text := strings.ReplaceAll(lost(f), "acknowledgement", "response")
	t.trace.Marks = append(t.trace.Marks, TracedMark{
		At: t.since(f.FiredAt()), Text: session + ": " + text + ", before the receiver", Fault: true,
	})
}

// serverKilled is how a transcript tells it.
const serverKilled = "server killed"

var markLine = regexp.MustCompile(`(?s)^(?:\((.*)\)|([^ ]+: (?:dies|leaves), .*))$`)

// own keeps a statement of the scenario's own.
func (t *tracer) own(sql string, args []any) {
	if t.trace != nil {
		t.trace.Own = append(t.trace.Own, TracedSQL{t.since(time.Now()), sql, args})
	}
}

// end puts the trace in order and lets it out of hand.
func (t *tracer) end(sessions []*Session) *Trace {
	trace := t.trace
	for _, s := range sessions {
		trace.Sessions = append(trace.Sessions, s.Name)
		for _, setting := range s.own {
			trace.Settings = append(trace.Settings, TracedSetting{s.Name, setting})
		}
	}
	ids := make([]uint64, len(trace.Commands))
	order := make([]int, len(trace.Commands))
	for id, i := range t.at {
		ids[i], order[i] = id, i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Compare(trace.Commands[a].seq, trace.Commands[b].seq)
	})
	sorted, place := make([]TracedCommand, len(order)), map[uint64]int{}
	for i, old := range order {
		sorted[i], place[ids[old]] = trace.Commands[old], i
	}
	trace.Commands = sorted
	for i := range trace.Waits {
		w := &trace.Waits[i]
		w.CommandIndex = place[w.id]
		if w.To == 0 {
			w.To = sorted[w.CommandIndex].End()
		}
	}
	for i := range trace.Rows {
		trace.Rows[i].After = place[trace.Rows[i].id]
	}
	*t = tracer{}
	return trace
}

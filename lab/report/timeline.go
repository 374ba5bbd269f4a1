package report

import (
	"cmp"
	"slices"
	"time"

	"webhooklab/lab"
)

// A timeline lays one trace out: a lane for each session, time flowing down. A line stands for an
// event and not for a span of time, so that long steps and short ones are equally legible; the
// real times are in the titles.
type timeline struct {
	trace   *lab.Trace
	id      string // what its anchors begin with
	sql     *statements
	moments []moment
	lines   int
	lanes   map[string]*lane

	// the line at which each of these stands, by its index in the trace; -1 for none
	held, sent, over, waits []int
}

// A moment is an event that has lines of its own.
type moment struct {
	at    time.Duration
	kind  momentKind
	index int // in the list of the trace that the kind is about
	line  int // its first
	lines int
}

// What happens at the same time is shown in this order.
type momentKind int

const (
	markMade momentKind = iota
	began
	wasHeld
	wasSent
	wasOver // answered, or struck
	ended
	waited
	rowsRead
)

// newTimeline lays out the trace.
func newTimeline(trace *lab.Trace, id string, sql *statements) *timeline {
	n := len(trace.Commands)
	t := &timeline{trace: trace, id: id, sql: sql,
		held: none(n), sent: none(n), over: none(n), waits: none(n)}
	t.gather()
	slices.SortStableFunc(t.moments, func(a, b moment) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.kind, b.kind))
	})
	for i := range t.moments {
		m := &t.moments[i]
		m.line, m.lines = t.lines, t.height(*m)
		t.lines += m.lines
		switch m.kind {
		case wasHeld:
			t.held[m.index] = m.line
		case wasSent:
			t.sent[m.index] = m.line
		case wasOver:
			t.over[m.index] = m.line + m.lines - 1
		case waited:
			if c := t.trace.Waits[m.index].CommandIndex; t.waits[c] < 0 {
				t.waits[c] = m.line
			}
		}
	}
	t.lanes = t.layLanes()
	return t
}

func none(n int) []int { return slices.Repeat([]int{-1}, n) }

// gather finds what is shown. Commands that only prepare are left out, as in transcripts.
func (t *timeline) gather() {
	add := func(at time.Duration, k momentKind, i int) {
		if at > 0 {
			t.moments = append(t.moments, moment{at: at, kind: k, index: i})
		}
	}
	for i, o := range t.trace.Operations {
		add(o.Began, began, i)
		add(o.Ended, ended, i)
	}
	for i, c := range t.trace.Commands {
		if !shownCommand(c) {
			continue
		}
		if t.heldLong(c) {
			add(c.Held, wasHeld, i)
		}
		add(c.Sent, wasSent, i)
		add(c.End(), wasOver, i)
	}
	for i, w := range t.trace.Waits {
		add(w.From, waited, i)
	}
	for i, r := range t.trace.Rows {
		add(r.At, rowsRead, i)
	}
	for i, m := range t.trace.Marks {
		add(m.At, markMade, i)
	}
}

func shownCommand(c lab.TracedCommand) bool {
	return !c.Local || c.Fault != "" || c.Answer.SQLState != ""
}

// heldLong: somebody else did something while this command was held, or it never left.
func (t *timeline) heldLong(c lab.TracedCommand) bool {
	if c.Held == 0 {
		return false
	}
	left := max(c.Sent, c.Struck)
	if left == 0 {
		return true
	}
	for _, o := range t.trace.Commands {
		if o.Session != c.Session && shownCommand(o) && c.Held < o.Sent && o.Sent < left {
			return true
		}
	}
	return false
}

// height is how many lines a moment takes.
func (t *timeline) height(m moment) int {
	switch m.kind {
	case wasOver:
		if t.trace.Commands[m.index].Sent == 0 {
			return 2 // its name, and what it met
		}
	case waited:
		return 1 + len(waitText(t.trace.Waits[m.index]))
	case rowsRead:
		return 1 + len(t.changes(m.index))
	}
	return 1
}

// lineAt is the line of the first moment that is not before this time.
func (t *timeline) lineAt(at time.Duration) int {
	i, _ := slices.BinarySearchFunc(t.moments, at, func(m moment, at time.Duration) int {
		return cmp.Compare(m.at, at)
	})
	if i == len(t.moments) {
		return t.lines
	}
	return t.moments[i].line
}

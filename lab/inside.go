package lab

import (
	"context"
	"fmt"
)

// inside is where a lane's statement stands between its own rows.
type inside struct {
	class   uint32 // first half of the key of the gate that it is at
	gates   int    // that it has come to, this one included
	told    int    // … of which the transcript tells
	leaving bool   // it was told to end
}

// standsAtGate enters that a backend was seen at its own gate. It can't move until the lab opens
// that, so it is no wait, and firm for whoever waits behind it.
func (l *Lab) standsAtGate(ln *lane) bool {
	if ln.inside.leaving {
		return false
	}
	ln.state = laneGated
	ln.inside.class = ln.wait.classID
	ln.inside.gates++
	l.gates.used++
	return true
}

// tellGate says where a statement has come to, once.
func (s *Session) tellGate(ln *lane) {
	n, label := ln.inside.gates, ln.command.Label()
	if ln.inside.told == n {
		return
	}
	ln.inside.told = n
	s.shown = "<inside, at its gate>"
	if n > 1 {
		s.shown = fmt.Sprintf("<inside, at its gate %d>", n)
	}
	l := s.lab
	l.line("%s: %s %s", s.Name, label, s.shown)
	l.trace.mark(fmt.Sprintf("(%s stands inside %s, at gate %d)", s.Name, label, n))
	l.History.Note(s.Name, "gate",
		fmt.Sprintf("%s (pid %d) stands inside its statement, at gate %d", label, ln.pid, n))
}

// atGate does what a step says of a statement that stands at its gate.
func (l *Lab) atGate(s *Session, ln *lane, step Step) {
	switch step.Fault.Kind {
	case NoFault:
		l.openGate(s, ln)
	case Cancelled:
		l.cancelAtGate(s, ln)
	default:
		l.give(VerdictNotRun, "the fault %s can't be made inside a statement", step.Fault.Words())
	}
}

// openGate lets a statement go on to its next row, or to its end.
func (l *Lab) openGate(s *Session, ln *lane) {
	l.freeze(ln)
	l.schedule = append(l.schedule, s.Name+"~open")
	ln.state = laneRunning
	if err := l.gates.pass(l.ctx, ln.inside.class, ln.pid); err != nil {
		l.give(VerdictUnknown, "open the gate of %s and shut it again: %v", s.Name, err)
	}
	l.settle(s)
}

// cancelAtGate cancels a statement where it stands, and proves that it was this that ended it.
func (l *Lab) cancelAtGate(s *Session, ln *lane) {
	l.freeze(ln)
	l.schedule = append(l.schedule, s.Name+"~open!cancelled")
	ln.state, ln.inside.leaving, ln.sqlState = laneRunning, true, ""
	l.History.Note(s.Name, "fault", ln.command.Label()+": cancelled inside its statement")
	if err := l.exec(l.ctx, `SELECT pg_cancel_backend($1)`, ln.pid); err != nil {
		l.give(VerdictUnknown, "cancel %s of %s: %v", ln.command.Label(), s.Name, err)
	}
	l.settle(s)
	if ln.sqlState != "57014" {
		l.give(VerdictUnknown, "%s of %s should have been cancelled, but got %q",
			ln.command.Label(), s.Name, ln.sqlState)
	}
}

// ExploreGated explores a program with gates inside its statements, and beside it, as a control,
// without: what only the first one finds lives inside a statement.
func (l *Lab) ExploreGated(ctx context.Context, want Exploration) (gated, control Explored) {
	want.Gated = false
	control = l.Explore(ctx, want)
	want.Gated = true
	return l.Explore(ctx, want), control
}

package export

import (
	"slices"
	"time"

	"webhooklab/lab"
)

// fixVictims makes sure that PostgreSQL ends the same side of a deadlock again: whoever looks for
// it first is ended, so the others never look. The run may have left that to chance.
func (w *writer) fixVictims() {
	victims := map[*terminal]bool{}
	for _, l := range w.script.lines {
		if l.want != nil && l.want.SQLState == deadlock {
			victims[l.terminal] = true
		}
	}
	for _, t := range w.script.terminals {
		set := slices.ContainsFunc(t.settings, func(s lab.Setting) bool {
			return s.Name == patience.Name
		})
		if len(victims) > 0 && !victims[t] && !set && t.session != "" {
			t.settings = append(t.settings, patience)
		}
	}
}

// deadlock is the code of "deadlock detected".
const deadlock = "40P01"

var patience = lab.Setting{Name: "deadlock_timeout", Value: "1h"}

// tellOperations puts what sessions are told to do before their first line, and their answers after
// the last line that came before them.
func (w *writer) tellOperations() {
	lines := w.script.lines
	for _, op := range w.trace.Operations {
		first := slices.IndexFunc(lines, func(l *line) bool {
			return l.terminal != nil && l.terminal.session == op.Session && l.at >= op.Began
		})
		if first < 0 || op.Ended > 0 && lines[first].at > op.Ended {
			continue // it never spoke to the server
		}
		lines[first].told = append(lines[first].told, op.Session+": "+w.trace.Plain(op.What))
		if op.Ended == 0 || op.Ended > w.stopped() {
			continue
		}
		last := lines[max(first, w.lastOf(op.Ended, func(*line) bool { return true }))]
		last.answers = append(last.answers, op.Session+" answers: "+op.Answer)
	}
}

// lastBefore is the last line that began before this moment and may have ended a wait. The end of a
// connection that was in no transaction ends nobody's, so what ends soon after it has not ended by
// it.
func (w *writer) lastBefore(at time.Duration) int {
	return w.lastOf(at, func(l *line) bool { return !l.quits || l.inside })
}

func (w *writer) lastOf(at time.Duration, which func(*line) bool) (last int) {
	for i, l := range w.script.lines {
		if l.at <= at && which(l) {
			last = i
		}
	}
	return last
}

// timeEnds finds for each line the one after which it is done.
func (w *writer) timeEnds() {
	for i, l := range w.script.lines {
		l.until = i
		if l.want != nil || l.lost {
			l.until = max(i, w.lastBefore(l.end))
		}
		if l.end == 0 && l.lost {
			l.until = len(w.script.lines)
		}
		// A waiter may wake before the wire has told that its holder is gone.
		next := l.until + 1
		if len(l.waits) > 0 && next < len(w.script.lines) && w.script.lines[next].frees(l) {
			l.until = next
		}
	}
}

// frees tells whether this line ends the connection that the other one waited for at last.
func (l *line) frees(waiter *line) bool {
	last := waiter.waits[len(waiter.waits)-1]
	return l.inside && slices.Contains(last.For, l.terminal.session)
}

// judge says what can't be played at all, and what not by the isolation tester.
func (w *writer) judge() error {
	lines := w.script.lines
	for i, l := range lines {
		if l.terminal == nil || len(l.sql) == 0 {
			continue
		}
		for _, wait := range l.waits {
			if slices.Contains(wait.For, "an outsider") {
				return noScript("in line %d %s waits for somebody who is no session", i+1,
					l.terminal.name)
			}
		}
		if l.until > i && len(l.waits) == 0 && !l.lost {
			return noScript("lines %d and %d were under way at once, so no schedule says which "+
				"came first", i+1, i+2)
		}
		switch {
		case w.script.unfit != "" || !l.lost:
		case l.until == len(lines):
			w.script.unfit = "a session still waits at the end, which it takes for an error"
		default:
			w.script.unfit = "a connection is cut while its command runs, which no step of it " +
				"can do"
		}
	}
	return nil
}

// chosen: up to the i-th line some line has freed several waiters at once.
func (s *Script) chosen(i int) bool {
	for n, freeing := range s.lines[:i+1] {
		free := 0
		for _, l := range s.lines[:n] {
			if l.until >= n && slices.ContainsFunc(l.waits, func(w lab.TracedWait) bool {
				return w.From < freeing.at && freeing.terminal != nil &&
					slices.Contains(w.For, freeing.terminal.session)
			}) {
				free++
			}
		}
		if free > 1 {
			return true
		}
	}
	return false
}

package lab

import (
	"fmt"
	"sort"
	"strings"

	"webhooklab/toxiproxy"
)

// A change is what one step did to one session: a command's result, or the end of its operation.
type change struct {
	command string
	text    string
	local   bool // told only if its wait was
}

// line adds one line to the transcript.
func (l *Lab) line(format string, args ...any) {
	text := l.plain(fmt.Sprintf(format, args...))
	l.trace.mark(text)
	l.transcript.WriteString(text)
	l.transcript.WriteByte('\n')
}

// tell writes what a step did. Events inside one step have no order of their own, so lines go by
// session: the stepped one first, the others in the order of their first mention.
func (l *Lab) tell(stepped *Session, confirmed map[*lane]bool) {
	order := append([]*Session(nil), l.sessions...)
	sort.SliceStable(order, func(i, j int) bool {
		return order[i] == stepped && order[j] != stepped
	})
	for _, s := range order {
		s.tellChanges()
	}
	for _, s := range order {
		s.tellWait(confirmed)
	}
	l.traceRows()
}

func (s *Session) tellChanges() {
	l := s.lab
	for _, c := range s.changes {
		switch {
		case l.free && c.command != "":
			continue // a free run has no order worth telling
		case c.command == "":
			l.line("%s: %s", s.Name, c.text)
			s.shown = ""
		case s.shown != "":
			l.line("%s: <... %s completed>  -- %s", s.Name, c.command, c.text)
			s.shown = ""
		case c.local:
		default:
			l.line("%s: %s  -- %s", s.Name, c.command, c.text)
		}
	}
	s.changes = nil
}

func (s *Session) tellWait(confirmed map[*lane]bool) {
	l := s.lab
	for _, ln := range s.lanes {
		if ln.state == laneGated {
			s.tellGate(ln)
		}
		if ln.state != laneRunning || !confirmed[ln] {
			continue
		}
		ln.state = laneBlocked
		w := fmt.Sprintf("<waiting for %s: %s>", l.names(ln.wait.Blockers), ln.wait)
		if w != s.shown && !l.free {
			l.line("%s: %s %s", s.Name, ln.command.Label(), w)
			s.shown = w
		}
		l.noteWait(s, ln)
	}
}

// noteWait keeps the evidence of a proved wait.
func (l *Lab) noteWait(s *Session, ln *lane) {
	for _, old := range l.waits {
		if old.Wait.PID == ln.wait.PID && old.Wait.Since.Equal(ln.wait.Since) {
			return
		}
	}
	p := ProvedWait{Session: s.Name, Command: ln.command.Label(), Wait: ln.wait}
	for _, pid := range ln.wait.Blockers {
		p.For = append(p.For, l.name(pid))
	}
	l.waits = append(l.waits, p)
	l.trace.waits(p, ln.command)
	l.History.Note(s.Name, "wait", fmt.Sprintf("%s (pid %d) waits for %v: %s, xid %s held by pid %d",
		p.Command, p.Wait.PID, p.For, p.Wait, p.Wait.XID, p.Wait.Holder))
}

// A ProvedWait is the evidence of one wait: which command waited for which sessions, by what lock.
// The row of a transaction wait names no relation: Command says which one was being written.
type ProvedWait struct {
	Session string   `json:"session"`
	Command string   `json:"command"`
	For     []string `json:"for"`
	Wait    Wait     `json:"wait"`
}

// names turns backend pids into session names, each once, sorted.
func (l *Lab) names(pids []uint32) string {
	seen := map[string]bool{}
	var all []string
	for _, pid := range pids {
		if n := l.name(pid); !seen[n] {
			seen[n] = true
			all = append(all, n)
		}
	}
	sort.Strings(all)
	return strings.Join(all, ", ")
}

func (l *Lab) name(pid uint32) string {
	if s := l.owner(pid); s != nil {
		return s.Name
	}
	return "an outsider"
}

func result(a toxiproxy.Answer) string {
	if a.SQLState != "" {
		return "ERROR " + a.SQLState
	}
	return strings.Join(a.Tags, ", ")
}

// stepName is one step of the schedule line: who, before which command, and the fault if any.
func stepName(s *Session, ln *lane, f *toxiproxy.Fault) string {
	step := Step{Session: s.Name, What: ln.command.Label()}
	switch {
	case f == nil:
	case f.At == toxiproxy.BeforeCommand:
		step.Fault = Fault{Kind: LostRequest, Close: f.Close}
	default:
		step.Fault = Fault{Kind: LostAck, Close: f.Close}
	}
	return step.String()
}

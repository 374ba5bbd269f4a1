package report

import (
	"time"

	"webhooklab/lab"
)

// A lane is a session's part of the width. It is split where the session has several transactions
// open at once, each on a connection of its own.
type lane struct {
	first, tracks int // of all tracks of the timeline
	spans         []*span
}

// A span is a transaction, or one command outside of any, on a track of its lane.
type span struct {
	track       int // within the lane
	from, to    int // lines
	began       time.Duration
	transaction bool
	lost        bool // it was not committed
	commands    []int
}

func (t *timeline) layLanes() map[string]*lane {
	lanes, first := map[string]*lane{}, 0
	for _, name := range t.trace.Sessions {
		l := &lane{first: first, spans: t.spans(name)}
		l.tracks = max(1, share(l.spans))
		first += l.tracks
		lanes[name] = l
	}
	return lanes
}

// tracks is how many there are side by side.
func (t *timeline) tracks() (n int) {
	for _, l := range t.lanes {
		n += l.tracks
	}
	return max(1, n)
}

// spans gathers the commands of a session by transaction. A connection is inside one from the
// command after which the server said so, to the one after which it said the contrary.
func (t *timeline) spans(session string) (all []*span) {
	open := map[int]*span{}
	for i, c := range t.trace.Commands {
		if c.Session != session {
			continue
		}
		s := open[c.Conn]
		inside := c.Answer.TxStatus == 'T' || c.Answer.TxStatus == 'E'
		switch {
		case s == nil && (inside || shownCommand(c)):
			s = &span{began: c.Sent, transaction: inside, from: -1, lost: true}
			open[c.Conn], all = s, append(all, s)
		case s == nil:
			continue
		}
		if shownCommand(c) {
			s.commands = append(s.commands, i)
		}
		if !inside && c.End() > 0 {
			s.lost = s.transaction && !c.Answer.Committed()
			delete(open, c.Conn)
		}
	}
	return t.placed(all)
}

// placed gives each span its lines, and drops those in which nothing is shown.
func (t *timeline) placed(all []*span) (shown []*span) {
	for _, s := range all {
		for _, i := range s.commands {
			from, to := t.extent(i)
			if s.from < 0 || from < s.from {
				s.from = from
			}
			s.to = max(s.to, to)
		}
		if len(s.commands) > 0 {
			shown = append(shown, s)
		}
	}
	return shown
}

// extent is the first and the last line of a command's bar, its time in the gate included.
func (t *timeline) extent(i int) (from, to int) {
	from, to = t.held[i], t.over[i]
	if from < 0 {
		from = t.sent[i]
	}
	if from < 0 {
		from = to - 1 // a request that was lost at once
	}
	if to < 0 {
		to = t.lines - 1 // it never ended
	}
	return from, to
}

// share puts spans that meet on tracks of their own, and says how many it takes.
func share(spans []*span) (tracks int) {
	var until []int
	for _, s := range spans {
		for s.track = 0; s.track < len(until) && until[s.track] >= s.from; s.track++ {
		}
		if s.track == len(until) {
			until = append(until, 0)
		}
		until[s.track] = s.to
	}
	return len(until)
}

// text of a wait: for whom, by which lock, and on which relation. The row of a transaction wait
// names no relation; then it is the one that the waiting command names.
func waitText(w lab.TracedWait) []string {
	lines := []string{"waits for " + joinNames(w.For) + ": " + w.Wait.String()}
	if relation := relationOf(w.Command); w.Wait.Relation == "" && relation != "" {
		lines = append(lines, "relation, from the command: "+relation)
	}
	return lines
}

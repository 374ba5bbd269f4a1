package lab

import (
	"sync"

	"webhooklab/toxiproxy"
)

// A span is the part of an operation that the wire saw: from the first command that left for the
// server, BEGIN and the like apart, to the last answer that came back. Zero: none yet.
type span struct{ first, last uint64 }

func (s *span) sent(e toxiproxy.Event) {
	if s.first == 0 && !e.Command.Local() {
		s.first = e.Seq
	}
}

func (s *span) answered(e toxiproxy.Event) { s.last = e.Seq }

// countOverlaps is called when the operation of s has ended: every operation still in progress that
// the wire saw begin before that end overlapped with it. Time plays no part in it.
func (s *Session) countOverlaps() {
	for _, o := range s.lab.sessions {
		if o != s && o.active && s.span.first != 0 && o.span.first != 0 &&
			o.span.first < s.span.last {
			s.lab.overlaps++
		}
	}
}

// countMeeting is called when a command leaves on a lane: other lanes of the same wire that are
// inside a transaction then belong to other operations that a receiver has in progress at once.
func (s *Session) countMeeting(ln *lane) {
	if ln.command.Local() {
		return
	}
	for _, other := range s.lanes {
		if other != ln && !other.dying && other.tx == 'T' {
			s.lab.overlaps++
		}
	}
}

// ReleaseTogether opens the gates of sessions that each hold a command, all at once, and lets them
// run freely to their ends: nobody steps them, PostgreSQL and the scheduler decide.
func (l *Lab) ReleaseTogether(all ...*Session) {
	for _, s := range all {
		if s.held() == nil {
			l.give(VerdictUnknown, "%s stands at no barrier: %s", s.Name, s.status())
		}
	}
	l.line("(%s released together)", sessionNames(all))
	l.unstepped(all...)
}

// unstepped opens the gates of these sessions at once and waits until all have their answers.
func (l *Lab) unstepped(all ...*Session) {
	l.free = true
	defer func() { l.free = false }()
	for _, s := range all {
		s.span = span{} // what was before the barrier proves nothing about what comes behind it
	}
	barrier := make(chan struct{})
	var opened sync.WaitGroup
	for _, s := range all {
		opened.Go(func() {
			<-barrier
			s.wire.Gate(false)
		})
	}
	close(barrier)
	opened.Wait()
	l.poll("the free run to end", func() (bool, error) {
		l.drain()
		for _, s := range all {
			if !s.ended {
				return false, nil
			}
		}
		return true, nil
	})
	for _, s := range all {
		s.changes = nil
	}
	l.traceRows()
}

// Tally takes the answers of sessions that ran freely and counts them by outcome.
func (l *Lab) Tally(all ...*Session) map[string]int {
	n := map[string]int{}
	for _, s := range all {
		n[s.end().Outcome]++
	}
	l.line("(answers: %v)", n)
	return n
}

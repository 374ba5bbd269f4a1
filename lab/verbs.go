package lab

import (
	"slices"
	"time"

	"webhooklab/toxiproxy"
)

// maxSteps bounds one verb: a receiver that sends more commands than this for one delivery is
// taken for one that will not end.
const maxSteps = 200

// HoldBefore steps the session until its next command is label ("COMMIT", "INSERT webhook_inbox").
func (s *Session) HoldBefore(label string) *Session {
	for range maxSteps {
		ln := s.held()
		if ln == nil {
			s.noOutsider("should come to " + label)
			s.lab.give(VerdictInvalid, "%s never came to %s: %s", s.Name, label, s.status())
		}
		if ln.command.Label() == label {
			return s
		}
		s.step(nil)
	}
	s.lab.give(VerdictUnknown, "%s did not come to %s in %d commands", s.Name, label, maxSteps)
	return s
}

// Release lets the held command go and settles.
func (s *Session) Release() *Session {
	if s.held() == nil {
		s.lab.give(VerdictInvalid, "%s holds no command to release: %s", s.Name, s.status())
	}
	s.step(nil)
	return s
}

// BlockedBy steps the session until it waits, and proves from one observation of the server that
// it is these sessions and nobody else that it waits for.
func (s *Session) BlockedBy(holders ...*Session) *Session {
	l := s.lab
	for range maxSteps {
		if s.held() == nil {
			break
		}
		s.step(nil)
	}
	ln := s.first(laneBlocked)
	if ln == nil {
		l.give(VerdictInvalid, "%s should wait for %s but is %s",
			s.Name, sessionNames(holders), s.status())
	}
	s.noOutsider("should wait for " + sessionNames(holders))
	var seen []*Session
	for _, pid := range ln.wait.Blockers {
		seen = append(seen, l.owner(pid))
	}
	for _, h := range holders {
		if !slices.Contains(seen, h) {
			l.give(VerdictInvalid, "%s should wait for %s but waits for %s (%s)",
				s.Name, h.Name, l.names(ln.wait.Blockers), ln.wait)
		}
	}
	for _, owner := range seen {
		if !slices.Contains(holders, owner) {
			l.give(VerdictInvalid, "%s should wait for %s but waits for %s (%s)",
				s.Name, sessionNames(holders), owner.Name, ln.wait)
		}
	}
	return s
}

// noOutsider gives unknown if somebody who is no session of ours holds this one up: that is no
// fault of the receiver's.
func (s *Session) noOutsider(expected string) {
	l, ln := s.lab, s.first(laneBlocked)
	if ln == nil {
		return
	}
	for _, pid := range ln.wait.Blockers {
		if l.owner(pid) == nil {
			l.give(VerdictUnknown, "%s %s but waits for an outsider: %s (%s)",
				s.Name, expected, l.observer.describe(l.ctx, pid), ln.wait)
		}
	}
}

// NotBlocked releases the held command and demands that it ends without waiting for anybody.
func (s *Session) NotBlocked() *Session {
	s.Release()
	s.noOutsider("should not wait")
	if s.first(laneBlocked) != nil {
		s.lab.give(VerdictInvalid, "%s should not wait, but is %s", s.Name, s.status())
	}
	return s
}

// Answers steps the session to its end and compares what its sender learned.
func (s *Session) Answers(want Answer) *Session {
	l := s.lab
	got := s.end()
	if got != want {
		l.give(VerdictInvalid, "%s was answered %q%s, want %q", s.Name, got, because(s.err), want)
	}
	return s
}

// Ends steps the session to its end and takes its answer, whatever it is.
func (s *Session) Ends() Answer { return s.end() }

// end steps the session to its end and takes its answer.
func (s *Session) end() Answer {
	l := s.lab
	for range maxSteps {
		if s.held() == nil || s.ended {
			break
		}
		s.step(nil)
	}
	if !s.ended {
		s.noOutsider("should have an answer")
		l.give(VerdictInvalid, "%s should have an answer but is %s", s.Name, s.status())
	}
	s.ended = false
	return s.answer
}

// LoseRequest cuts the held command before it reaches the server.
func (s *Session) LoseRequest(how toxiproxy.Close) *Session {
	s.loseRequest(s.holding(), how)
	return s
}

// LoseAck lets the server execute the held command and drops every byte of its acknowledgement.
//
// The server's own word that the transaction is committed is taken before the client is told
// anything; a fault that did not fire, or a byte that slipped through, makes the run unknown.
func (s *Session) LoseAck(how toxiproxy.Close) *Session {
	s.loseAck(s.holding(), how)
	return s
}

// holding is the lane whose command is to be struck.
func (s *Session) holding() *lane {
	ln := s.held()
	if ln == nil {
		s.lab.give(VerdictInvalid, "%s holds no command to cut: %s", s.Name, s.status())
	}
	return ln
}

// Dies ends the session as a killed process ends: what it held back never leaves, nothing of it
// reaches the server any more, and nobody learns its answer. Its backends leave before Dies
// returns, and their locks with them.
func (s *Session) Dies() {
	l := s.lab
	l.line("%s: dies, %s", s.Name, s.status())
	l.schedule = append(l.schedule, s.Name+"!dies")
	s.spoiled = true
	if err := s.wire.Close(); err != nil {
		l.give(VerdictUnknown, "close the wire of %s: %v", s.Name, err)
	}
	if s.active {
		s.cancel()
	}
	l.settle(nil)
	for _, ln := range s.lanes {
		l.gone(s, ln.pid)
	}
	s.ended = false
}

// Leaves has the sender give up: its request is cancelled while its command is held.
func (s *Session) Leaves() *Session {
	l := s.lab
	l.line("%s: leaves, %s", s.Name, s.status())
	if s.cancel != nil {
		s.cancel()
	}
	l.poll("the sender of "+s.Name+" to be gone", func() (bool, error) {
		l.drain()
		return s.ended, nil
	})
	l.tell(s, nil)
	return s
}

// RunsOff steps what a receiver still does after its sender has left, until it has sent so many
// commands of this label.
func (s *Session) RunsOff(times int, label string) {
	l := s.lab
	for range maxSteps {
		l.poll("the next command of "+s.Name, func() (bool, error) {
			l.drain()
			return s.held() != nil, nil
		})
		if s.held().command.Label() == label {
			times--
		}
		s.step(nil)
		if times == 0 {
			return
		}
	}
	l.give(VerdictUnknown, "%s did not come to its last %s in %d commands", s.Name, label, maxSteps)
}

// gone waits until a backend is no more.
func (l *Lab) gone(s *Session, pid uint32) {
	l.poll("the backend of "+s.Name+" to leave", func() (bool, error) {
		there, err := l.observer.present(l.ctx, pid)
		return !there, err
	})
}

// poll asks the server again and again, with growing pauses, until it says yes.
func (l *Lab) poll(what string, ask func() (bool, error)) {
	deadline := time.Now().Add(l.cfg.Bound)
	for pause := 50 * time.Microsecond; ; pause = min(2*pause, 2*time.Millisecond) {
		yes, err := ask()
		if err != nil {
			l.give(VerdictUnknown, "wait for %s: %v", what, err)
		}
		if yes {
			return
		}
		if time.Now().After(deadline) {
			l.give(VerdictUnknown, "waited %v for %s in vain", l.cfg.Bound, what)
		}
		l.mail.nap(pause)
	}
}

func sessionNames(all []*Session) string {
	out := ""
	for i, s := range all {
		if i > 0 {
			out += ", "
		}
		out += s.Name
	}
	return out
}

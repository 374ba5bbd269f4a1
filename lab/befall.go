package lab

import (
	"errors"
	"strings"

	"webhooklab/lab/postgres"
	"webhooklab/toxiproxy"
)

// A witness is a driver that wants to know what a fault did. It is told once the truth is known and
// everybody stands still, before anybody goes on.
type witness interface{ struck(step Step, what truth) }

// fault lets the step's fault strike the command that stands there. What can't be struck like this
// is not run, with the reason; a fault that was not seen to do what it should makes the run unknown.
func (l *Lab) fault(s *Session, ln *lane, step Step) {
	var what truth
	switch f := step.Fault; f.Kind {
	case LostRequest:
		what = s.loseRequest(ln, f.Close)
	case LostAck:
		what = s.loseAck(ln, f.Close)
	case Terminated:
		what = s.terminated(ln)
	case Cancelled:
		what = s.cancelled(ln)
	case ReceiverKilled:
		what = s.processKilled(ln)
	case ServerKilled:
		what = s.serverKilled(ln)
	case ServerKilledAfter:
		what = s.serverKilledAfter(ln)
	default:
		l.give(VerdictNotRun, "the fault %s can't be made here", f.Words())
	}
	if l.steered == nil {
		return
	}
	if w, ok := l.steered.driver.(witness); ok {
		w.struck(step, what)
	}
}

// note writes down a fault that is none of the wire's.
func (s *Session) note(ln *lane, f FaultKind) {
	l, words := s.lab, Fault{Kind: f}.Words()
	s.spoiled = s.spoiled || f != Cancelled // which leaves the connection whole
	l.schedule = append(l.schedule, stepName(s, ln, nil)+"!"+faultNames[f])
	s.changes = append(s.changes, change{command: ln.command.Label(), text: words})
	l.History.Note(s.Name, "fault", ln.command.Label()+": "+words)
}

// terminated ends the backend from outside, as an administrator or a fail-over does, while its
// command is on its way.
func (s *Session) terminated(ln *lane) truth {
	l, xid := s.lab, s.xid(ln)
	s.note(ln, Terminated)
	if n := l.count(`SELECT FROM pg_terminate_backend($1::int) AS t (done) WHERE done`,
		ln.pid); n != 1 {
		l.give(VerdictUnknown, "the backend of %s was not there to be terminated", s.Name)
	}
	l.falls(s, ln)
	return l.settled(s, ln.pid, xid, "aborted", toxiproxy.FIN)
}

// processKilled kills the receiver's process, so that its command never leaves.
func (s *Session) processKilled(ln *lane) truth {
	l := s.lab
	process, ok := s.opened().(interface{ Kill() })
	if !ok {
		l.give(VerdictNotRun, "the receiver is no process of its own here")
	}
	xid := s.xid(ln)
	s.note(ln, ReceiverKilled)
	process.Kill()
	l.falls(s, ln)
	return l.settled(s, ln.pid, xid, "aborted", toxiproxy.FIN)
}

// falls waits until the wire has seen the end of the lane's connection, its command still held.
func (l *Lab) falls(s *Session, ln *lane) {
	l.poll("the connection of "+s.Name+" to fall", func() (bool, error) {
		l.drain()
		return ln.dying, nil
	})
}

// serverKilled kills PostgreSQL while the command is on its way, and starts it again.
func (s *Session) serverKilled(ln *lane) truth {
	l, xid := s.lab, s.xid(ln)
	l.mayKill()
	s.note(ln, ServerKilled)
	l.Kill()
	return l.became(s, xid, "aborted")
}

// serverKilledAfter kills PostgreSQL once it has executed the command and before anybody was told.
func (s *Session) serverKilledAfter(ln *lane) truth {
	l := s.lab
	l.mayKill()
	xid, want := s.executed(ln, toxiproxy.Hang)
	l.Down()
	l.Up()
	return l.became(s, xid, want)
}

func (l *Lab) mayKill() {
	if err := l.can(postgres.Crash); err != nil {
		l.give(VerdictNotRun, "%v", err)
	}
}

// cancelled stops the statement while it is in progress, and cancels it there: one that writes at the
// gate before its first row, one that only reads at a lock of ours on its table.
func (s *Session) cancelled(ln *lane) truth {
	label := ln.command.Label()
	verb, table, ok := strings.Cut(label, " ")
	xid := s.xid(ln)
	switch {
	case !ok || strings.Contains(table, " "):
		s.lab.give(VerdictNotRun, "%s stands nowhere long enough to be cancelled", label)
	case verb == "SELECT":
		s.cancelledAtLock(ln, table)
	case verb == "INSERT", verb == "UPDATE", verb == "DELETE":
		s.cancelledAtGate(ln)
	default:
		s.lab.give(VerdictNotRun, "%s can't be stopped inside", label)
	}
	return truth{xid: xid}
}

func (s *Session) cancelledAtGate(ln *lane) {
	l := s.lab
	if l.gates == nil {
		l.give(VerdictNotRun, "no gates were placed, so nothing stops it inside")
	}
	l.gates.shut = true
	defer l.openGates()
	l.shutGatesOf(ln.pid)
	s.stepLane(ln, nil)
	if ln.state != laneGated {
		l.give(VerdictNotRun, "it came to no row to change, so nothing stopped it inside")
	}
	s.changes = append(s.changes, change{command: ln.command.Label(), text: "cancelled"})
	l.cancelAtGate(s, ln)
}

func (s *Session) cancelledAtLock(ln *lane, table string) {
	l := s.lab
	l.notItsOwn(ln, table)
	blocker, err := l.blocker()
	if err != nil {
		l.give(VerdictUnknown, "%v", err)
	}
	defer blocker.close()
	switch err := blocker.lock(l.ctx, table); {
	case errors.Is(err, errNoTable):
		l.give(VerdictNotRun, "%s is no table that it could be made to wait for", table)
	case err != nil:
		l.give(VerdictUnknown, "%v", err)
	}
	s.note(ln, Cancelled)
	s.stepLane(ln, nil)
	if ln.state != laneBlocked {
		l.give(VerdictUnknown, "%s did not wait for the lock on %s, but is %s",
			s.Name, table, s.status())
	}
	l.cancelWaiting(s, ln)
}

// notItsOwn: a table that the transaction itself has locked can't be locked against it.
func (l *Lab) notItsOwn(ln *lane, table string) {
	locked, err := l.observer.locked(l.ctx, ln.pid)
	if err != nil {
		l.give(VerdictUnknown, "ask what is locked: %v", err)
	}
	for name := range locked {
		if name == table || strings.HasSuffix(name, "."+table) {
			l.give(VerdictNotRun, "its transaction holds %s already, so nothing makes it wait", table)
		}
	}
}

// cancelWaiting cancels a statement that waits, and demands that the wire saw it end by that.
func (l *Lab) cancelWaiting(s *Session, ln *lane) {
	ln.sqlState = ""
	if n := l.count(`SELECT FROM pg_cancel_backend($1::int) AS t (done) WHERE done`,
		ln.pid); n != 1 {
		l.give(VerdictUnknown, "the backend of %s was not there to be cancelled", s.Name)
	}
	l.poll("the statement of "+s.Name+" to be cancelled", func() (bool, error) {
		l.drain()
		return ln.sqlState != "" || ln.dying, nil
	})
	if ln.sqlState != "57014" {
		l.give(VerdictUnknown, "the cancelled statement of %s ended by %q, not by 57014",
			s.Name, ln.sqlState)
	}
	l.settle(s)
}

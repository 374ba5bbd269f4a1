package lab

import (
	"slices"
	"strings"
	"time"

	"webhooklab/toxiproxy"
)

// step lets the session's held command go, into a fault if one is given, and settles.
func (s *Session) step(f *toxiproxy.Fault) { s.stepLane(s.held(), f) }

func (s *Session) stepLane(ln *lane, f *toxiproxy.Fault) {
	l := s.lab
	l.freeze(ln)
	l.schedule = append(l.schedule, stepName(s, ln, f))
	ln.state, ln.sent, ln.prepared = laneRunning, false, false
	l.trace.released(ln.command, len(l.schedule))
	if err := s.wire.Release(ln.command, f); err != nil {
		l.give(VerdictUnknown, "release %s of %s: %v", ln.command.Label(), s.Name, err)
	}
	l.settle(s)
}

// settle returns when every session is held, finished, or seen to wait for one that cannot move.
//
// A wait counts only if it was seen by a question that began after the last wire event; a session
// that was already waiting before the step must be seen again; and a blocker that may itself still
// move confirms nobody, so that a chain takes one question for each of its links and a deadlock is
// never taken for a wait: PostgreSQL ends it while settle goes on asking.
func (l *Lab) settle(stepped *Session) {
	for _, ln := range l.lanes(laneBlocked) {
		ln.state = laneRunning
	}
	confirmed := map[*lane]bool{}
	began := time.Now()
	deadline := began.Add(l.cfg.Bound)
	for asked := 0; ; {
		if l.drain() {
			clear(confirmed)
			asked = 0
		}
		thinking, running := l.thinking(), l.lanes(laneRunning)
		if !thinking && all(running, confirmed) {
			if l.thawNext(running) {
				clear(confirmed)
				asked = 0
				continue
			}
			break
		}
		if time.Now().After(deadline) {
			l.stuck()
		}
		l.unfreeze(began, running)
		if thinking {
			l.mail.doze(min(2*time.Millisecond, time.Until(deadline)))
			continue
		}
		if l.pause(running, asked) {
			continue
		}
		l.ask(running, confirmed)
		asked++
	}
	l.tell(stepped, confirmed)
}

func all(running []*lane, confirmed map[*lane]bool) bool {
	for _, ln := range running {
		if !confirmed[ln] {
			return false
		}
	}
	return true
}

// pause waits for an event before the next question, and says whether one came. Questions hold
// every partition of the lock table, so they back off; with nobody else in a transaction there is
// nothing to wait for but the command itself, and while it is expected to pass the next event makes
// any answer worthless. Where it may wait, the question comes as soon as it has left.
func (l *Lab) pause(running []*lane, asked int) bool {
	switch {
	case !l.mayBlock(running):
		return l.mail.doze(2 * time.Millisecond)
	case asked == 0 && l.steered.expects(running) == willPass:
		return l.mail.doze(time.Millisecond)
	case asked == 0 && slices.ContainsFunc(running, func(ln *lane) bool { return !ln.sent }):
		return l.mail.wait(time.Millisecond)
	case asked == 0 && l.steered.expects(running) == mayWait:
		return l.mail.nap(80 * time.Microsecond)
	case asked < 2:
		return !l.mail.empty()
	default:
		return l.mail.nap(50 * time.Microsecond << min(asked-2, 5))
	}
}

func (l *Lab) mayBlock(running []*lane) bool {
	if len(running) > 1 {
		return true
	}
	if running[0].command.Local() {
		return false // as good as surely: only a lock on a whole table stops a Parse
	}
	if l.shutting() {
		return true // at its own gate
	}
	for _, s := range l.sessions {
		for _, ln := range s.lanes {
			if ln.tx != 'I' && ln.tx != 0 && ln != running[0] {
				return true
			}
		}
	}
	return false
}

// ask puts one question for all running lanes and confirms those whose wait it proves.
func (l *Lab) ask(running []*lane, confirmed map[*lane]bool) {
	seen, err := l.look(running)
	if err != nil {
		l.give(VerdictUnknown, "%v", err)
	}
	if !l.mail.empty() {
		return // the answer is older than the event
	}
	l.chooseVictim(seen, running)
	var proved []*lane
	for _, ln := range running {
		ln.wait = seen[ln.pid]
		if l.still(ln, confirmed) {
			proved = append(proved, ln)
		} else {
			delete(confirmed, ln)
		}
	}
	for _, ln := range proved {
		confirmed[ln] = true
	}
}

// look sees who waits for whom, and by which lock, also where a stopped backend keeps the question
// from its answer.
func (l *Lab) look(running []*lane) (seen map[uint32]Wait, err error) {
	if !l.anyFrozen() {
		return l.inquire(running)
	}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		seen, err = l.inquire(running)
	}()
	t := time.NewTimer(l.cfg.Bound / 3)
	defer t.Stop()
	select {
	case <-answered:
	case <-t.C:
		l.letGo()
		<-answered
	}
	return seen, err
}

// inquire asks for the locks only when there are blockers: they cost more.
func (l *Lab) inquire(running []*lane) (map[uint32]Wait, error) {
	pids := make([]uint32, len(running))
	for i, ln := range running {
		pids[i] = ln.pid
	}
	if l.steered.expects(running) != willWait {
		blocked, err := l.observer.blocked(l.ctx, pids)
		if !blocked || err != nil {
			return nil, err
		}
	}
	return l.observer.waits(l.ctx, pids)
}

// still: the lane can't go on by itself.
func (l *Lab) still(ln *lane, confirmed map[*lane]bool) bool {
	if l.gates.holds(ln.wait) {
		return l.standsAtGate(ln)
	}
	return l.stands(ln) || ln.wait.proved() && l.firm(ln.wait.Blockers, confirmed)
}

// stands: the backend is stopped and its lock is free, so that it moves when the lab wants it to.
func (l *Lab) stands(ln *lane) bool { return ln.frozen && len(ln.wait.Blockers) == 0 }

// firm: none of these backends can move, as far as earlier questions have shown. One whose
// connection is gone will leave, and its locks with it.
func (l *Lab) firm(blockers []uint32, confirmed map[*lane]bool) bool {
	for _, pid := range blockers {
		ln, _ := l.laneOf(pid)
		if ln != nil && (ln.dying || ln.state == laneRunning && !confirmed[ln]) {
			return false
		}
	}
	return true
}

// stuck ends a run in which a session neither finishes nor is seen to wait.
func (l *Lab) stuck() {
	text := ""
	for _, s := range l.sessions {
		if s.thinking() || s.first(laneRunning) != nil {
			text += "\n  " + s.Name + " is " + s.status()
		}
	}
	l.give(VerdictUnknown, "no step of these came to an end within %v:%s", l.cfg.Bound, text)
}

// drain applies what happened, in order, and says whether anything did.
func (l *Lab) drain() bool {
	q := l.mail.take()
	for _, h := range q {
		switch {
		case h.next != "":
			h.session.acted(h.answer, h.err, h.next)
		case h.ended:
			h.session.finish(h.answer, h.err)
		default:
			h.session.apply(h.wire)
		}
	}
	return len(q) > 0
}

func (s *Session) finish(a Answer, err error) {
	if err != nil {
		a = Unknown
	}
	s.countOverlaps()
	s.active, s.ended, s.answer, s.err = false, true, a, err
	s.lab.trace.did(s.Name, a, err)
	s.outcomes = append(s.outcomes, a.Outcome)
	s.changes = append(s.changes, change{text: "=> " + a.String()})
}

// acted is the end of one act of several.
func (s *Session) acted(a Answer, err error, next string) {
	if err != nil {
		a = Unknown
	}
	s.lab.trace.did(s.Name, a, err)
	s.lab.trace.does(s.Name, s.lab.plain(next))
	s.outcomes = append(s.outcomes, a.Outcome)
	s.changes = append(s.changes, change{text: "=> " + a.String()})
}

func (s *Session) apply(e toxiproxy.Event) {
	s.lab.trace.saw(s.Name, e)
	ln := s.lane(e.Conn)
	switch e.Kind {
	case toxiproxy.Opened:
		s.opens(&lane{conn: e.Conn, pid: e.PID, tx: 'I'})
		s.lab.shutGatesOf(e.PID)
	case toxiproxy.Closed:
		if ln != nil {
			ln.state, ln.dying = laneCut, true
			s.lab.leaveOpen(ln.pid)
		}
	case toxiproxy.Refused:
		s.lab.blame(VerdictUnknown, "the wire of %s refused a connection: %s", s.Name, e.Reason)
	}
	if ln == nil {
		return
	}
	switch e.Kind {
	case toxiproxy.Held:
		ln.state, ln.command = laneHeld, e.Command
	case toxiproxy.Sent:
		ln.state, ln.sent, ln.command = laneRunning, true, e.Command
		s.span.sent(e)
		s.countMeeting(ln)
	case toxiproxy.Answered:
		ln.answered(e)
		s.span.answered(e)
		ln.state = laneReady
		s.changes = append(s.changes, change{
			command: e.Command.Label(), text: result(e.Answer), local: e.Command.Local()})
	case toxiproxy.Fired:
		ln.state, ln.dying = laneCut, e.Fault.Close != toxiproxy.Hang
		s.span.answered(e)
		s.fired(e)
	}
}

// answered keeps what the effect of a command depends on.
func (ln *lane) answered(e toxiproxy.Event) {
	label := e.Command.Label()
	ln.prepared = ln.prepared || e.Command.Local()
	switch {
	case e.Answer.TxStatus != 'T':
		ln.wrote = false
	case label == "BEGIN":
		ln.begin, ln.wrote = e.Command.SQL(), false
	case !e.Command.Local() && !strings.HasPrefix(label, "SELECT"):
		ln.wrote = true
	}
	if e.Answer.SQLState != "" {
		ln.failed, ln.deadlocked = true, e.Answer.SQLState == "40P01"
		ln.sqlState = e.Answer.SQLState
	}
	ln.tx, ln.inside = e.Answer.TxStatus, inside{}
}

// fired notes a fault. A sender whose connection hangs gives up by itself: not time, but the fact
// that the fault fired decides when.
func (s *Session) fired(e toxiproxy.Event) {
	f := e.Fault
	text := "request lost"
	if f.At == toxiproxy.AfterCommand {
		text = "executed, acknowledgement lost"
	}
	text += " (" + f.Close.String() + ")"
	s.lab.History.Note(s.Name, "fault", e.Command.Label()+": "+text)
	s.changes = append(s.changes, change{command: e.Command.Label(), text: text})
	if f.Close == toxiproxy.Hang && s.cancel != nil {
		s.cancel()
	}
}

func (l *Lab) thinking() bool {
	for _, s := range l.sessions {
		if s.thinking() {
			return true
		}
	}
	return false
}

func (l *Lab) lanes(state laneState) (found []*lane) {
	for _, s := range l.sessions {
		for _, ln := range s.lanes {
			if ln.state == state {
				found = append(found, ln)
			}
		}
	}
	return found
}

// laneOf is the lane that a backend serves, and its session; both nil for an outsider.
func (l *Lab) laneOf(pid uint32) (*lane, *Session) {
	for _, s := range l.sessions {
		for _, ln := range s.lanes {
			if ln.pid == pid {
				return ln, s
			}
		}
	}
	return nil, nil
}

func (l *Lab) owner(pid uint32) *Session {
	_, s := l.laneOf(pid)
	return s
}

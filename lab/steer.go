package lab

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"webhooklab/toxiproxy"
)

// steering is the hand of a driver on a program that is being played. It follows what every step
// does, as far as the driver wants to know.
type steering struct {
	lab     *Lab
	driver  driver
	prints  *footprinter // nil: effects are not wanted
	wrote   map[*lane][]access
	read    map[*lane][]access
	flight  map[*lane]flown
	unknown map[*lane]bool // its transaction did what nobody can tell
	taken   []Step
	lesson  lesson
	choice  bool
	chance  int
	pair    bool   // the step may close a deadlock of two, of whom one is stopped
	freed   bool   // all were let go, as the step would not end
	outran  bool   // in some step PostgreSQL made a choice by itself
	victim  string // the session that was chosen for it in this step, "" if none was
	stand   string // where every session stood before the step, in stable words
	ahead   string // … and the step: what experience knows it by
}

// flown is the last command that a lane sent.
type flown struct {
	command toxiproxy.Command
	effect  effect
}

func newSteering(l *Lab, d driver) *steering {
	return &steering{
		lab: l, driver: d, prints: l.prints,
		wrote: map[*lane][]access{}, read: map[*lane][]access{}, flight: map[*lane]flown{},
		unknown: map[*lane]bool{},
	}
}

// take lets one step happen and tells the driver what it did.
func (l *Lab) take(step Step) {
	st := l.steered
	s, ln := l.standingAt(step)
	st.taken = append(st.taken, step)
	st.choice, st.chance, st.pair, st.freed, st.victim = false, 0, false, false, ""
	before := l.lanes(laneBlocked)
	l.forgetVictims()
	st.ahead = st.stand + " > " + step.String()
	own := st.intended(s, ln, step)
	st.flight[ln] = flown{ln.command, own}
	l.befall(s, ln, step)
	if l.steered == nil {
		return // the world has fallen
	}
	st.stand = l.label()
	l.learned(st.ahead)
	done := passage{step: step, label: st.stand, choice: st.choice, chance: st.chance,
		outrun: st.freed || st.pair && st.outrun()}
	st.outran = st.outran || done.outrun
	if st.prints != nil {
		done.effect = st.total(ln, own, before)
	}
	st.driver.passed(done)
}

// outrun says whether another died in this step's deadlock than was chosen, or before one was.
func (st *steering) outrun() bool {
	for _, s := range st.lab.sessions {
		died := slices.ContainsFunc(s.lanes, func(ln *lane) bool { return ln.deadlocked })
		if died && s.Name != st.victim {
			return true
		}
	}
	return false
}

// forgetVictims is called before each step.
func (l *Lab) forgetVictims() {
	for _, s := range l.sessions {
		for _, ln := range s.lanes {
			ln.deadlocked = false
		}
	}
}

// befall does what the step says.
func (l *Lab) befall(s *Session, ln *lane, step Step) {
	switch {
	case step.Kind == StepOpen:
		l.atGate(s, ln, step)
	case step.Fault.Kind == NoFault:
		s.stepLane(ln, nil)
	default:
		l.fault(s, ln, step)
	}
}

// standingAt is the lane that a step speaks of.
func (l *Lab) standingAt(step Step) (*Session, *lane) {
	for _, s := range l.sessions {
		if s.Name != step.Session {
			continue
		}
		if lanes := s.standing(); step.Lane < len(lanes) {
			return s, lanes[step.Lane]
		}
	}
	l.give(VerdictUnknown, "nothing stands where %s should go on", step)
	return nil, nil
}

// label says in stable words where every session stands.
func (l *Lab) label() string {
	var all []string
	for _, s := range l.sessions {
		if ln := s.first(laneBlocked); ln != nil && s.held() == nil {
			all = append(all, fmt.Sprintf("%s waits in %s for %s",
				s.Name, ln.command.Label(), l.names(ln.wait.Blockers)))
			continue
		}
		all = append(all, s.Name+" is "+l.plain(s.where()))
	}
	sort.Strings(all)
	return strings.Join(all, "; ")
}

// where is status without what varies.
func (s *Session) where() string {
	if s.ended {
		return "finished: " + s.answer.String()
	}
	return s.status()
}

// intended is the effect of a command by its text, before it is released.
func (st *steering) intended(s *Session, ln *lane, step Step) (e effect) {
	if st.prints == nil {
		return e
	}
	if step.Kind == StepOpen {
		return st.flight[ln].effect
	}
	switch label := ln.command.Label(); label {
	case "COMMIT", "ROLLBACK":
		e.commits = st.wrote[ln]
		e.all = st.unknown[ln]
	default:
		var scans []string
		e, scans = st.prints.of(st.lab.ctx, ln.command, st.lab.plain)
		st.lesson.scans = append(st.lesson.scans, scans...)
		e.all = e.all || s.strict(ln)
		st.wrote[ln] = append(st.wrote[ln], e.writes...)
		st.read[ln] = append(st.read[ln], e.reads...)
		st.unknown[ln] = st.unknown[ln] || e.all
	}
	return e
}

// total is the effect of the whole step: its own command, what it woke, what an error gave back.
func (st *steering) total(own *lane, e effect, before []*lane) effect {
	total := e
	total.waited = own.state == laneBlocked
	st.check(own)
	for _, ln := range before {
		if ln.state != laneBlocked {
			total.add(st.flight[ln].effect)
			st.check(ln)
		}
	}
	for _, s := range st.lab.sessions {
		for _, ln := range s.lanes {
			if ln.state == laneBlocked || ln.failed || ln.tx != 'T' {
				st.ends(ln, &total)
			}
		}
	}
	if st.choice {
		return everything
	}
	return total
}

// ends: a transaction that is over, or that an error has ended, gives its locks back at once.
func (st *steering) ends(ln *lane, total *effect) {
	if ln.state == laneBlocked || ln.state == laneGated {
		return
	}
	if ln.failed {
		total.waited = total.waited || ln.deadlocked
	}
	total.commits = append(total.commits, st.wrote[ln]...)
	total.all = total.all || st.unknown[ln]
	delete(st.wrote, ln)
	delete(st.read, ln)
	delete(st.unknown, ln)
	ln.failed, ln.deadlocked = false, false
}

// check compares a footprint with the relations that the backend has locked.
func (st *steering) check(ln *lane) {
	last := st.flight[ln]
	if ln.state == laneBlocked || ln.state == laneGated || ln.dying || ln.prepared ||
		last.effect.all {
		return
	}
	for _, s := range last.command.Statements {
		text := st.lab.plain(s.SQL)
		open := ln.tx == 'T'
		if !st.prints.due(text, open) {
			continue
		}
		if !open {
			st.lesson.looks = append(st.lesson.looks, look{text: text, gone: true})
			continue
		}
		locked, err := st.lab.observer.locked(st.lab.ctx, ln.pid)
		if err != nil {
			st.lab.give(VerdictUnknown, "ask what is locked: %v", err)
		}
		known := append(append([]access(nil), st.wrote[ln]...), st.read[ln]...)
		st.lesson.looks = append(st.lesson.looks, look{text: text, locked: locked, known: known})
	}
}

// strict: the session's transactions are not READ COMMITTED, so that its first statement already
// fixes what all of them see.
func (s *Session) strict(ln *lane) bool {
	begin := strings.ToUpper(ln.begin)
	if strings.Contains(begin, "READ COMMITTED") {
		return false
	}
	if strings.Contains(begin, "REPEATABLE READ") || strings.Contains(begin, "SERIALIZABLE") {
		return true
	}
	return strings.Contains(s.key, "default_transaction_isolation")
}

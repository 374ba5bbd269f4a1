package lab

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"webhooklab/lab/postgres"
)

// A driver decides what goes on next in a program that is played.
type driver interface {
	// next picks one of what is enabled; it may add a fault. Without a pick, the rest of the run is
	// of no interest and is played out in any order.
	next(at position) (Step, bool)

	// wake picks one of several waiters that PostgreSQL could let go on.
	wake(free []Step) Step

	// passed tells what the last step was seen to do, once everything has settled.
	passed(done passage)
}

// A position is where a program stands: each session is held, finished or waits.
type position struct {
	enabled []Step // in the order of the sessions
	lab     *Lab
}

// A passage is one step with what came of it.
type passage struct {
	step   Step
	label  string // where every session stands now, in stable words
	effect effect
	choice bool // PostgreSQL had a choice to make between waiters
	chance int  // … and nobody made it for it: so many waiters
	outrun bool // it made a choice before that could be made for it
}

// A played program, not yet judged by its laws.
type played struct {
	report  Report
	answers []string // outcomes, in the order of the program
	sources []string // fresh ones, for the laws
	run     string   // suffix of the fresh names
	steps   []Step   // as they went
	cut     bool     // the driver lost interest
	lesson  lesson
	outrun  bool // PostgreSQL has made a choice before it was made for it
}

// playProgram runs one program once, as the driver says.
func (l *Lab) playProgram(ctx context.Context, p Program, d driver) played {
	began := time.Now()
	l.begin(ctx, p.Law)
	l.line("program %s\nlaw: %s\n", p.Name, p.Law)
	done := played{run: l.run}
	if reason := l.misfit(p); reason != "" {
		l.blame(VerdictNotRun, "%s", reason)
	} else if len(l.offences) == 0 {
		l.play(func(l *Lab) { l.through(p, d, &done) })
		l.unsteered()
		l.runOff()
	}
	done.sources = l.fresher()
	done.report = l.reported(p.Name, p.Law, began)
	l.keep()
	return done
}

// misfit is why this lab can't play the program, "" when it can.
func (l *Lab) misfit(p Program) string {
	return l.cannot(Scenario{Reference: p.Reference, Needs: p.Needs})
}

// through plays the program from what happened before to what the world does afterwards.
func (l *Lab) through(p Program, d driver, done *played) {
	if p.Before != nil {
		l.quietly(p.Before)
	}
	st := newSteering(l, d)
	l.steered = st
	defer func() { done.steps, done.lesson, done.outrun = st.taken, st.lesson, st.outran }()
	sessions := make([]*Session, len(p.Sessions))
	for i, a := range p.Sessions {
		sessions[i] = l.Session(a.Name, a.Settings...)
		sessions[i].acts(a.Does)
	}
	l.shutGates()
	for !l.allEnded(sessions) {
		at := position{enabled: l.enabled(sessions), lab: l}
		if len(at.enabled) == 0 {
			l.waitForOutsider(sessions)
			continue
		}
		step, interested := d.next(at)
		if !interested {
			done.cut = true
			step = at.enabled[0]
		}
		if step == (Step{}) { // the driver has nowhere to go
			done.cut = true
			return
		}
		l.take(step)
	}
	l.unsteered()
	for _, s := range sessions {
		done.answers = append(done.answers, s.outcomes...)
		s.ended = false
	}
	if p.After != nil && !done.cut {
		l.quietly(p.After)
	}
}

// leftLocked judges a standstill. If all who hold somebody up have had their answers, they have kept
// locks that nobody will give back, which is a fault of the receiver's.
func (l *Lab) leftLocked() Verdict {
	blocked := l.lanes(laneBlocked)
	for _, ln := range blocked {
		for _, pid := range ln.wait.Blockers {
			if l.owner(pid).active {
				return VerdictUnknown
			}
		}
	}
	if len(blocked) == 0 {
		return VerdictUnknown
	}
	return VerdictInvalid
}

// unsteered takes the hand off: nobody is stopped or stands at a gate any more.
func (l *Lab) unsteered() {
	l.steered = nil
	l.thawAll()
	l.openGates()
}

// quietly runs what belongs to no order.
func (l *Lab) quietly(story func(*Lab)) {
	story(l)
	for _, s := range l.sessions {
		if s.active {
			l.give(VerdictUnknown, "a program's before or after ended while %s was %s",
				s.Name, s.status())
		}
	}
}

// acts starts what a session does in a program, one act after the other.
func (s *Session) acts(does []Act) {
	l, does := s.lab, slices.Clone(does)
	what := make([]string, len(does))
	for i, a := range does {
		what[i] = a.what
		does[i] = a.fresh(l)
	}
	s.outcomes = nil
	s.start(strings.Join(what, ", then "), func(ctx context.Context) (Answer, error) {
		var last Answer
		var err error
		for i, a := range does {
			last, err = guarded(ctx, func(ctx context.Context) (Answer, error) {
				return s.perform(ctx, a)
			})
			if i < len(does)-1 {
				l.mail.put(happening{session: s, next: does[i+1].what, answer: last, err: err})
			}
		}
		return last, err
	})
}

// fresh is the act under the run's own names.
func (a Act) fresh(l *Lab) Act {
	switch {
	case a.delivery != nil:
		d := l.fresh(*a.delivery)
		a.delivery = &d
	case a.with != nil:
		a.do = a.with(l)
	case a.sql != nil:
		a.sql = slices.Clone(a.sql)
		for i, sql := range a.sql {
			a.sql[i] = named.ReplaceAllStringFunc(sql, func(name string) string {
				return l.Source(strings.Trim(name, "{}"))
			})
		}
	}
	return a
}

// named is a source in SQL that a program runs.
var named = regexp.MustCompile(`\{[a-z]+\}`)

// perform does one act, in the session's own goroutine.
func (s *Session) perform(ctx context.Context, a Act) (Answer, error) {
	if a.sql != nil {
		return s.runSQL(ctx, a.sql)
	}
	r, err := s.open(ctx)
	switch {
	case err != nil:
		return Unknown, err
	case a.delivery != nil:
		return s.lab.History.Record(s.Name, r).Receive(ctx, *a.delivery)
	}
	return a.do(ctx, r)
}

func (l *Lab) allEnded(sessions []*Session) bool {
	return !slices.ContainsFunc(sessions, func(s *Session) bool { return s.active })
}

// enabled is what can go on: held commands and open gates, by session, then by connection.
func (l *Lab) enabled(sessions []*Session) (steps []Step) {
	for _, s := range sessions {
		for i, ln := range s.standing() {
			step := Step{Session: s.Name, Lane: i, What: ln.command.Label()}
			if ln.state == laneGated {
				step.Kind, step.What = StepOpen, ""
			}
			steps = append(steps, step)
		}
	}
	return steps
}

// standing are the session's lanes that wait for the lab.
func (s *Session) standing() (lanes []*lane) {
	for _, ln := range s.lanes {
		if ln.state == laneHeld || ln.state == laneGated {
			lanes = append(lanes, ln)
		}
	}
	return lanes
}

// waitForOutsider gives somebody who is no session of ours time to let go; nobody else can move.
func (l *Lab) waitForOutsider(sessions []*Session) {
	outsider := false
	for _, ln := range l.lanes(laneBlocked) {
		for _, pid := range ln.wait.Blockers {
			outsider = outsider || l.owner(pid) == nil
		}
	}
	if !outsider {
		text := ""
		for _, s := range sessions {
			text += "\n  " + s.Name + " is " + s.status()
		}
		l.give(l.leftLocked(), "nobody can go on:%s", text)
	}
	l.poll("an outsider to let go", func() (bool, error) {
		l.settle(nil)
		return l.allEnded(sessions) || len(l.enabled(sessions)) > 0, nil
	})
}

// reported is the report of a run without its laws.
func (l *Lab) reported(name, law string, began time.Time) Report {
	r := Report{
		Scenario: name, Law: law, Offences: l.offences,
		Transcript: l.transcript.String(), Waits: l.waits, Overlaps: l.overlaps,
		Schedule: fmt.Sprintf("%s@%d %s", name, l.cfg.Seed, strings.Join(l.schedule, " ")),
		History:  l.History, Trace: l.trace.end(l.sessions), Elapsed: time.Since(began),
	}
	if l.gated() {
		r.Gates, l.gates.used = l.gates.used, 0
	}
	for _, o := range l.offences {
		r.Verdict = max(r.Verdict, o.Verdict)
	}
	return r
}

// can is nil when the server under the lab can do this.
func (l *Lab) can(a postgres.Ability) error {
	if l.cfg.Server == nil {
		return fmt.Errorf("the lab was given no server to ask this of")
	}
	return l.cfg.Server.Can(a)
}

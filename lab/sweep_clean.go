package lab

import (
	"context"
	"strings"
)

// clean is a run without a fault: what each cell is held against.
type clean struct {
	points  []point
	began   string   // what was to be seen before the first command
	answers []string // of the acts, session by session
	repeats []string // of the same acts, sent once more at the end
	state   string   // what was left when all was over
}

// A point is a command that can be cut: which act it belongs to, and what everybody could see once
// it was over.
type point struct {
	step Step
	act  int
	seen string
}

// before is what was to be seen before a place; after, behind it. Places are counted from 1.
func (c clean) before(place int) string {
	if place == 1 {
		return c.began
	}
	return c.points[place-2].seen
}

func (c clean) after(place int) string { return c.points[place-1].seen }

// whole is what was to be seen before an act's first command and behind its last one.
func (c clean) whole(act int) (before, after string) {
	first := true
	for i, p := range c.points {
		if p.act != act {
			continue
		}
		if first {
			before, first = c.before(i+1), false
		}
		after = p.seen
	}
	return before, after
}

// cleanRun runs the program twice: as it is, and with every act sent once more.
func (l *Lab) cleanRun(ctx context.Context, want Sweeping) (c clean, r Report) {
	var again []string
	for _, repeat := range []bool{false, true} {
		d := &cutter{lab: l}
		h := &healer{lab: l, want: want, repeat: repeat}
		done, state := l.playHealed(ctx, want.Program, d, h)
		if done.report.Verdict != VerdictValid {
			return c, done.report
		}
		if repeat {
			c.repeats = h.first
			break
		}
		c.points, c.began, c.state = d.points, d.began, state
		c.answers, again = done.answers, done.answers
		r = done.report
	}
	if bad := notAllowed(want.Program, again); bad != "" {
		r.Offences = append(r.Offences,
			Offence{Verdict: VerdictInvalid, Law: want.Program.Law, Text: bad})
		r.Verdict = VerdictInvalid
	}
	return c, r
}

// notAllowed says what is wrong with the answers of a run without faults.
func notAllowed(p Program, answers []string) string {
	got := strings.Join(answers, " ")
	for _, a := range p.Answers {
		if a == got {
			return ""
		}
	}
	if p.Answers == nil {
		return ""
	}
	return "without a fault the answers were " + got + ", not " + either(p.Answers)
}

// A cutter is the driver that strikes at one place. Between its steps it looks at what everybody
// can see.
type cutter struct {
	lab   *Lab
	cut   cutAt // place 0: nowhere
	taken int

	points []point // without a fault
	began  string

	reached bool
	at      point // where it struck; seen is what was to be seen then
	what    truth
	broken  []Offence // laws, right then
}

func (d *cutter) next(at position) (Step, bool) {
	if d.taken == 0 && d.cut.place == 0 {
		d.began = d.lab.visible()
	}
	d.taken++
	step := at.enabled[0]
	p := point{step: step, act: d.lab.acting(step.Session)}
	if d.cut.place == 0 {
		d.points = append(d.points, p)
	}
	if d.taken == d.cut.place {
		d.reached, d.at = true, p
		step.Fault = d.cut.fault
	}
	return step, true
}

func (d *cutter) wake(free []Step) Step { return free[0] }

func (d *cutter) passed(passage) {
	if d.cut.place == 0 {
		d.points[len(d.points)-1].seen = d.lab.visible()
	}
}

func (d *cutter) struck(_ Step, what truth) {
	d.what, d.at.seen, d.broken = what, d.lab.visible(), d.lab.brokenNow()
}

// brokenNow are the laws that do not hold now: nobody may ever see something wrong, also before the
// world has healed.
func (l *Lab) brokenNow() (broken []Offence) {
	l.observer.mu.Lock()
	defer l.observer.mu.Unlock()
	sources, ops := l.fresher(), l.History.Operations()
	for _, law := range l.suspects(l.ctx, sources, ops) {
		found, err := law.Check(l.ctx, l.observer.conn, l.cfg.State, sources, ops)
		switch {
		case err != nil:
			broken = append(broken, Offence{Verdict: VerdictUnknown, Law: law.Law, Text: err.Error()})
		case len(found) > 0:
			broken = append(broken, Offence{Verdict: VerdictInvalid, Law: law.Law,
				Text: "right after the cut: " + l.plain(found[0])})
		}
	}
	return broken
}

// acting is which of its acts a session is at.
func (l *Lab) acting(session string) int {
	for _, s := range l.sessions {
		if s.Name == session {
			return len(s.outcomes)
		}
	}
	return 0
}

// visible is what the receiver shows of this run now, under stable names.
func (l *Lab) visible() string {
	l.observer.mu.Lock()
	defer l.observer.mu.Unlock()
	var b strings.Builder
	for _, t := range l.cfg.State {
		lines, err := shownRows(l.ctx, l.observer.conn, t, l.fresher())
		if err != nil {
			l.give(VerdictUnknown, "read the %s: %v", t.Name, err)
		}
		for _, line := range lines {
			b.WriteString(t.Name + " " + l.plain(line) + "\n")
		}
	}
	return b.String()
}

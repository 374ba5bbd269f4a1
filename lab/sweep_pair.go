package lab

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// pairs cuts the first session at each of its commands while the second stands at each of its own.
//
// The first goes to its place, then the second to its own. Where the second has to wait before it
// gets there, it is tried the other way round; where the first then has to wait, no order of the two
// makes them stand like this.
func (w *sweep) pairs(ctx context.Context) {
	for place := 1; ctx.Err() == nil && !w.broken; place++ {
		kept := len(w.done.Cells)
		w.pair(ctx, place)
		if !slices.ContainsFunc(w.done.Cells[kept:], func(c Cell) bool { return c.None == "" }) {
			w.done.Cells = w.done.Cells[:kept]
			return
		}
	}
}

// endedBefore is why the first session can't be cut where it never comes to.
const endedBefore = "it has ended before"

// pair goes through the places of the second session.
func (w *sweep) pair(ctx context.Context, place int) {
	stand := 0
	for ; ctx.Err() == nil && !w.broken; stand++ {
		came := w.standing(ctx, place, stand, false)
		if came == past {
			return // the second has ended: there are no more places of its own
		}
		if came == waits {
			break // it stands no further on
		}
	}
	for ; ctx.Err() == nil && !w.broken; stand++ {
		if w.standing(ctx, place, stand, true) == past {
			return
		}
	}
}

// standing strikes by each fault while the second session stands there.
func (w *sweep) standing(ctx context.Context, place, stand int, ahead bool) where {
	first, others := w.want.Faults[0], w.want.Faults[1:]
	c, came := w.stands(ctx, w.lab, cutAt{place, first}, stand, ahead)
	if c == nil {
		return came
	}
	w.enter(*c)
	if c.None != "" { // nothing was struck yet, so it is no other with the others
		for _, f := range others {
			c.Fault = f
			w.enter(*c)
		}
		return came
	}
	w.lab.explored += perCell
	w.crew.grow(ctx)
	cells, jobs := make([]*Cell, len(others)), make([]*job, len(others))
	for i, f := range others {
		jobs[i] = w.crew.send(func(l *Lab) {
			cells[i], _ = w.stands(ctx, l, cutAt{place, f}, stand, ahead)
		})
	}
	for i, j := range jobs {
		if w.crew.wait(j); cells[i] != nil {
			w.enter(*cells[i])
		}
	}
	return came
}

func (w *sweep) enter(c Cell) {
	w.done.Cells = append(w.done.Cells, c)
	w.broken = w.broken || w.want.First && c.Verdict == VerdictInvalid
	if w.want.Progress != nil {
		w.want.Progress(len(w.done.Cells), 0)
	}
}

// where the second session came to.
type where int

const (
	there where = iota // held before the command that it was to go to, or ended there
	waits              // it waits for the first
	past               // it has ended before that
)

// stands runs one cell; nil when the second session never came that far.
func (w *sweep) stands(
	ctx context.Context, l *Lab, cut cutAt, stand int, ahead bool,
) (*Cell, where) {
	all := w.want.Program.Sessions
	d := &pairCutter{lab: l, cut: cut, stand: stand, ahead: ahead,
		first: all[0].Name, second: all[1].Name, cutActs: len(all[0].Does)}
	h := &healer{lab: l, want: w.want, answers: w.clean.answers}
	done, state := l.playHealed(ctx, w.want.Program, d, h)
	if !d.done && d.barred == "" && d.came != past && done.report.Verdict == VerdictValid {
		d.barred = endedBefore // both have
	}
	switch {
	case d.came == past || ctx.Err() != nil:
		return nil, past
	case d.barred == endedBefore && !ahead:
		return nil, waits // with the second ahead it may have more to do
	}
	c := l.told(cut, d.at, w.want.Program, done)
	c.Other = d.other
	switch {
	case d.barred != "":
		c.Session, c.Command = d.first, w.command(d.first, cut.place)
		c.None, c.Verdict, c.Offences, c.Schedule = d.barred, VerdictValid, nil, Schedule{}
		c.Fate = ""
	case c.Verdict == VerdictNotRun:
		c.judge(verdictOf{})
	case c.Verdict == VerdictValid || c.Verdict == VerdictInvalid:
		l.hindsight(&c, &d.what)
		c.judgePair(d, h)
		c.leaves(l.cfg.State, w.clean.state, state)
	}
	return &c, d.came
}

// command is what a session sends at a place when it runs alone.
func (w *sweep) command(session string, place int) string {
	for _, p := range w.clean.points {
		if p.step.Session == session {
			if place--; place == 0 {
				return p.step.What
			}
		}
	}
	return ""
}

// judgePair: what either leaves alone can't be told apart, so the laws and the answers decide.
func (c *Cell) judgePair(d *pairCutter, h *healer) {
	c.Fate, c.Evidence = Fate(d.what.status), "pg_xact_status"
	if d.what.xid == "" {
		c.Fate, c.Evidence = ReadOnly, "no transaction id"
	}
	c.Learned, c.Again, c.Tries = h.learned[d.at.act], h.first[d.at.act], h.tries[d.at.act]
	c.accuseAll(d.broken)
	c.acked(verdictOf{healer: h})
	for _, got := range h.learned[d.cutActs:] {
		if comeAgain(got) {
			c.accuse(VerdictInvalid, "a sender that nothing was cut of has its answer",
				fmt.Sprintf("%s was told %q", d.second, got))
		}
	}
	c.Answers = strings.Join(h.last, " ")
}

// A pairCutter is the driver that brings two sessions to their places, strikes the first, and lets
// both go on.
type pairCutter struct {
	lab           *Lab
	first, second string
	cut           cutAt
	stand         int  // how many commands the second has sent when the first is cut
	ahead         bool // the second goes to its place before the first goes to its own

	firstTook, secondTook int
	came                  where
	other, barred         string
	placed, done          bool
	at                    point
	what                  truth
	broken                []Offence // laws, right then
	cutActs               int       // of the first session
}

func (d *pairCutter) next(at position) (Step, bool) {
	if d.done {
		return at.enabled[0], true
	}
	for _, goes := range d.order() {
		if d.took(goes) >= d.goal(goes) {
			continue
		}
		if step, ok := stepOf(at, goes); ok {
			d.counts(goes)
			return step, true
		}
		if d.stops(goes) {
			return Step{}, true
		}
	}
	return d.strike(at)
}

func (d *pairCutter) order() []string {
	if d.ahead {
		return []string{d.second, d.first}
	}
	return []string{d.first, d.second}
}

func (d *pairCutter) took(session string) int {
	if session == d.first {
		return d.firstTook
	}
	return d.secondTook
}

func (d *pairCutter) goal(session string) int {
	if session == d.first {
		return d.cut.place - 1
	}
	return d.stand
}

func (d *pairCutter) counts(session string) {
	if session == d.first {
		d.firstTook++
	} else {
		d.secondTook++
	}
}

// stops: a session can't go where it should. It says whether there is nothing to strike then.
func (d *pairCutter) stops(session string) bool {
	switch s := d.lab.Session(session); {
	case session == d.first && !s.active:
		d.barred = endedBefore
		return true
	case session == d.first:
		d.other = d.stood()
		d.barred = fmt.Sprintf("%s waits for %s before it comes there", d.first, d.second)
		return true
	case !s.active:
		d.came = past
		return true
	}
	d.came, d.secondTook = waits, d.stand
	return false
}

func (d *pairCutter) strike(at position) (Step, bool) {
	d.other = d.stood()
	step, ok := stepOf(at, d.first)
	switch s := d.lab.Session(d.first); {
	case !ok && !s.active:
		d.barred = endedBefore
		return Step{}, true
	case !ok:
		d.barred = fmt.Sprintf("%s waits for %s there", d.first, d.second)
		return Step{}, true
	}
	if d.lab.Session(d.second).first(laneBlocked) != nil {
		d.came = waits
	}
	d.done = true
	d.at = point{step: step, act: d.lab.acting(d.first)}
	step.Fault = d.cut.fault
	return step, true
}

// stood says where the second session stands, as a matrix shows it.
func (d *pairCutter) stood() string {
	s := d.lab.Session(d.second)
	switch ln := s.first(laneBlocked); {
	case !s.active:
		return "done"
	case s.held() != nil:
		return "before " + s.held().command.Label()
	case ln != nil:
		return "waits in " + ln.command.Label()
	}
	return s.status()
}

func stepOf(at position, session string) (Step, bool) {
	for _, step := range at.enabled {
		if step.Session == session {
			return step, true
		}
	}
	return Step{}, false
}

func (d *pairCutter) wake(free []Step) Step { return free[0] }

func (d *pairCutter) passed(passage) {}

func (d *pairCutter) struck(_ Step, what truth) {
	d.what, d.broken = what, d.lab.brokenNow()
}

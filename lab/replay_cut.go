package lab

import (
	"context"
	"slices"
)

// cuts says whether a fault strikes somewhere in the schedule.
func (s Schedule) cuts() bool {
	return slices.ContainsFunc(s.Steps, func(step Step) bool { return step.Fault.Kind != NoFault })
}

// Kills says whether the receiver's process is killed somewhere in the schedule, so that it must be
// one of its own.
func (s Schedule) Kills() bool {
	return slices.ContainsFunc(s.Steps, func(step Step) bool { return step.Fault.killsReceiver() })
}

// replayCut runs one cell of a sweep again: the program without a fault, for what must be the same,
// then the schedule, and behind it the sender that comes again.
func (l *Lab) replayCut(ctx context.Context, p Program, s Schedule) Replayed {
	want := Sweeping{Program: p}
	if err := l.placeGatesFor(ctx); err != nil {
		return Replayed{Report: Report{Scenario: p.Name, Law: p.Law, Verdict: VerdictUnknown,
			Offences: []Offence{{Verdict: VerdictUnknown, Text: err.Error()}}}}
	}
	c, r := l.cleanRun(ctx, want)
	if r.Verdict != VerdictValid {
		return Replayed{Report: r}
	}
	d := &cutFollower{follower: follower{steps: s.Steps}, cutter: cutter{lab: l}}
	h := &healer{lab: l, want: want, answers: c.answers}
	done, state := l.playHealed(ctx, p, d, h)
	again := Replayed{Report: done.report, NoFit: d.follower.nofit}
	if again.Ended = d.follower.ended(); again.Ended {
		again.NoFit = d.follower.nofit
	}
	if again.NoFit == "" {
		cell := l.told(d.cutter.cut, d.cutter.at, p, done)
		l.hindsight(&cell, &d.cutter.what)
		cell.judgeIn(p, verdictOf{c, &d.cutter, h, state})
		again.Report.Verdict, again.Report.Offences = cell.Verdict, cell.Offences
		again.NoFit = cell.None
	}
	again.Ran = Schedule{Program: p.Name, Seed: l.cfg.Seed, Steps: done.steps}
	again.Report.Schedule = again.Ran.String()
	return again
}

// judgeIn judges a cell of either kind.
func (c *Cell) judgeIn(p Program, by verdictOf) {
	if len(p.Sessions) != 2 || c.Verdict == VerdictNotRun {
		c.judge(by)
		return
	}
	if c.Verdict != VerdictUnknown {
		c.judgePair(&pairCutter{second: p.Sessions[1].Name, at: by.cutter.at, what: by.cutter.what,
			broken: by.cutter.broken, cutActs: len(p.Sessions[0].Does)}, by.healer)
		c.leaves(by.cutter.lab.cfg.State, by.clean.state, by.state)
	}
}

// A cutFollower follows a schedule and keeps what its fault did.
type cutFollower struct {
	follower follower
	cutter   cutter
}

func (d *cutFollower) next(at position) (Step, bool) {
	step, interested := d.follower.next(at)
	d.cutter.taken++
	if step.Fault.Kind != NoFault && !d.cutter.reached {
		bare := step
		bare.Fault = Fault{}
		d.cutter.reached, d.cutter.cut = true, cutAt{d.cutter.taken, step.Fault}
		d.cutter.at = point{step: bare, act: d.cutter.lab.acting(step.Session)}
	}
	return step, interested
}

func (d *cutFollower) wake(free []Step) Step { return d.follower.wake(free) }

func (d *cutFollower) passed(passage) {}

func (d *cutFollower) struck(step Step, what truth) { d.cutter.struck(step, what) }

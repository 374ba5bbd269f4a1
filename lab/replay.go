package lab

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// A follower is the driver that replays a schedule, step by step. Behind its end the program goes
// on in the order of its sessions.
type follower struct {
	steps []Step
	taken int
	nofit string // why it can't be followed any more

	outrun bool // because PostgreSQL has made a choice of its own before it could be made for it
	outran int  // how often it had before
}

func (f *follower) next(at position) (Step, bool) {
	switch {
	case f.nofit != "":
		return Step{}, true
	case len(f.steps) == 0:
		return at.enabled[0], true
	}
	want := f.steps[0]
	if want.Kind == StepWake || want.Kind == StepDies {
		f.nofit = fmt.Sprintf("step %d is %s, but PostgreSQL had nobody to choose from", f.taken+1, want)
		f.outrun = true
		return Step{}, true
	}
	i := slices.IndexFunc(at.enabled, want.fits)
	if i < 0 {
		f.nofit = fmt.Sprintf("step %d is %s, but %s", f.taken+1, want, at.lab.label())
		return Step{}, true
	}
	f.steps, f.taken = f.steps[1:], f.taken+1
	step := at.enabled[i]
	step.Fault = want.Fault
	return step, true
}

// fits: the step that can be taken is the one that is wanted, whatever befalls it.
func (s Step) fits(can Step) bool {
	if s.Kind == StepRelease && s.What == "" {
		s.What = can.What
	}
	s.Fault = can.Fault
	return s == can
}

func (f *follower) wake(free []Step) Step {
	if len(f.steps) > 0 && slices.Contains(free, f.steps[0]) {
		step := f.steps[0]
		f.steps, f.taken = f.steps[1:], f.taken+1
		return step
	}
	return free[0]
}

func (f *follower) passed(p passage) {
	if p.outrun && p.choice && f.nofit == "" {
		f.nofit = fmt.Sprintf("behind %s PostgreSQL chose otherwise", p.step)
		f.outrun = true
	}
}

// ended says whether the program ended before the schedule did, which then no longer fits.
func (f *follower) ended() bool {
	if f.nofit != "" || len(f.steps) == 0 {
		return false
	}
	rest := make([]string, len(f.steps))
	for i, step := range f.steps {
		rest[i] = step.String()
	}
	f.nofit = "the program ended before " + strings.Join(rest, " ")
	return true
}

// A Replayed schedule is one that was run again.
type Replayed struct {
	Report Report
	Ran    Schedule // what was really run
	NoFit  string   // why it could not be followed; "": it was, to its end
	Ended  bool     // it was followed until the program ended, and steps were left over
}

// Replay runs one schedule of a program again and judges it.
func (l *Lab) Replay(ctx context.Context, p Program, s Schedule) Replayed {
	if s.cuts() && !s.Gated { // a cell of a sweep
		return l.replayCut(ctx, p, s)
	}
	before := l.gated()
	if err := l.placeGates(ctx, s.Gated); err != nil {
		return Replayed{Report: unknown(p, err)}
	}
	defer func() { l.gates.again(before) }()
	lf, f := l.follow(ctx, p, s)
	l.judgeRuns(ctx, p.Law, []*leaf{&lf})
	r := Replayed{Report: lf.report, Ran: lf.schedule, Ended: f.ended()}
	r.NoFit = f.nofit // which ended may have set
	return r
}

// again plays what failed before.
func (x *explorer) again(ctx context.Context) {
	x.plant()
	for _, s := range x.want.First {
		if x.enough(ctx) {
			return
		}
		p := x.want.Program
		if s.Acts != nil {
			smaller, err := p.Only(s.Acts)
			if err != nil {
				continue // the program has changed
			}
			p = smaller
		}
		if r := x.lab.Replay(ctx, p, s); r.NoFit == "" &&
			r.Report.Verdict != VerdictValid {
			x.done.Failures = append(x.done.Failures, Failure{Schedule: s, Report: r.Report})
		}
	}
}

// audit keeps what differs between a run and the same once more: its transcript, its verdict.
func (x *explorer) audit(lf *leaf) {
	for _, again := range lf.again {
		if text := difference(lf.report.Transcript, again.report.Transcript); text != "" {
			x.done.Varied = append(x.done.Varied, lf.schedule.String()+"\n"+text)
		}
		x.done.Audited++
		x.batch = append(x.batch, again)
	}
	lf.again = nil
}

// difference shows the first line in which two transcripts part.
func difference(a, b string) string {
	left, right := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range max(len(left), len(right)) {
		var x, y string
		if i < len(left) {
			x = left[i]
		}
		if i < len(right) {
			y = right[i]
		}
		if x != y {
			return fmt.Sprintf("  line %d was: %s\n  and is:   %s", i+1, x, y)
		}
	}
	return ""
}

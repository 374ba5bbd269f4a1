package lab

import (
	"context"
	"slices"
)

// shrinkBudget bounds one attempt: the first failure of a small program comes early, as few
// preemptions go first.
const shrinkBudget = 150

// Shrink looks for the smallest schedule that still breaks the same law: fewest acts first, then
// fewest preemptions, then fewest steps. Nil when nothing smaller breaks it.
//
// Faults of the schedule stay: those of a sweep's cell are one already.
func (l *Lab) Shrink(ctx context.Context, p Program, f Failure) *Schedule {
	if len(f.Report.Offences) == 0 || f.Report.Verdict != VerdictInvalid || f.faulty() {
		return nil
	}
	s := shrinker{lab: l, law: f.Report.Offences[0].Law, gated: f.Schedule.Gated}
	acts := p.acts()
	best := s.smallest(ctx, p)
	for changed := true; changed; {
		changed = false
		for i := range acts {
			fewer := slices.Delete(slices.Clone(acts), i, i+1)
			smaller, err := p.Only(fewer)
			if err != nil {
				continue
			}
			if found := s.smallest(ctx, smaller); found != nil {
				found.Program, found.Acts = p.Name, fewer
				acts, best, changed = fewer, found, true
				break
			}
		}
	}
	return best
}

func (f Failure) faulty() bool {
	return slices.ContainsFunc(f.Schedule.Steps, func(s Step) bool { return s.Fault.Kind != NoFault })
}

type shrinker struct {
	lab   *Lab
	law   string
	gated bool
}

// smallest is the schedule with the fewest steps among the first that break the law: those have
// the fewest preemptions.
func (s shrinker) smallest(ctx context.Context, p Program) *Schedule {
	e := s.lab.Explore(ctx, Exploration{Program: p, Budget: shrinkBudget, Stop: 3, Gated: s.gated})
	var best *Schedule
	for _, f := range e.Failures {
		if f.Report.Verdict != VerdictInvalid || f.Report.Offences[0].Law != s.law {
			continue
		}
		if best == nil || len(f.Schedule.Steps) < len(best.Steps) {
			best = &f.Schedule
		}
	}
	return best
}

package scenarios

import (
	"context"
	"slices"

	"webhooklab/lab"
	"webhooklab/lab/postgres"
	"webhooklab/lab/report"
)

const fast = postgres.Fast

// byScenarios plays the stories of the suite, the one that is said to catch it first. Those that
// kill the server belong to the gate, which has a durable one for them.
func (t *trial) byScenarios(ctx context.Context, h *hearing) {
	all := slices.Clone(t.suite.Scenarios)
	slices.SortStableFunc(all, func(a, b lab.Scenario) int {
		return map[bool]int{true: 1}[b.Name == t.scenario] - map[bool]int{true: 1}[a.Name == t.scenario]
	})
	for _, sc := range all {
		if Profile(sc) == fast && ctx.Err() == nil && h.hears(played(t.watched.Run(ctx, sc), 1)) {
			return
		}
	}
}

// sequences is how many are drawn for each receiver.
const sequences = 30

// byProperties plays drawn sequences, whose answers the sequential models know.
func (t *trial) byProperties(ctx context.Context, h *hearing) {
	most := sequences
	if t.want.Short {
		most /= 3
	}
	for n := range most {
		if ctx.Err() != nil || h.hears(played(t.watched.Run(ctx, Drawn(t.suite, t.want.Seed, n)), 1)) {
			return
		}
	}
}

// mostSchedules of one program are tried on a flawed receiver, whose tree can be endless where a
// sound one's is not; mostGated on any, where statements stop between rows. Some of each program
// come first: most sins need no more, and none needs more of three sessions. The gate goes further
// with the references; here they show that the judges don't cry wolf.
const mostSchedules, mostGated, fewSchedules, someSchedules = 200, 25, 25, 5

// byExploration runs the suite's programs in every order.
func (t *trial) byExploration(ctx context.Context, h *hearing) {
	left := t.fewestFirst()
	if t.sinner != nil {
		for _, budget := range []int{someSchedules, fewSchedules} {
			left = slices.DeleteFunc(left, func(p lab.Program) bool {
				want := lab.Exploration{Program: p, Budget: budget, Stop: 1}
				return t.explores(ctx, h, want) || budget == fewSchedules && len(p.Sessions) > 2
			})
		}
	}
	for _, p := range left {
		if h.over || ctx.Err() != nil {
			return
		}
		want := lab.Exploration{Program: p}
		switch {
		case len(p.Sessions) > 2:
			want.Budget = fewSchedules
		case t.sinner != nil:
			want.Budget = mostSchedules
		}
		t.explores(ctx, h, want)
	}
}

// byGates also stops statements inside PostgreSQL: what that alone can show lives in one statement.
func (t *trial) byGates(ctx context.Context, h *hearing) {
	for _, judge := range []string{report.ByExploration, report.BySweep} {
		if t.caught(judge) {
			h.skip("it is caught between statements, by " + judge)
			return
		}
	}
	for _, p := range t.fewestFirst() {
		if len(p.Sessions) == 2 {
			t.explores(ctx, h, lab.Exploration{Program: p, Gated: true, Budget: mostGated})
		}
	}
}

// explores hears what came of one exploration, and says whether its tree is exhausted. When the
// hearing is over it does nothing.
func (t *trial) explores(ctx context.Context, h *hearing, want lab.Exploration) (exhausted bool) {
	if h.over || ctx.Err() != nil {
		return false
	}
	e := t.plain.Explore(ctx, want)
	o := outcome{by: want.Program.Name, runs: e.Explored + e.Cut, verdict: e.Verdict}
	if want.Gated && e.Gates == 0 && e.Verdict == lab.VerdictUnknown {
		o.verdict = lab.VerdictNotRun // the receiver writes nothing there
	}
	f, found := t.telling(e)
	if found {
		o.offences, o.line = f.Report.Offences, f.Line()
	}
	if h.hears(o) && found && e.Verdict == lab.VerdictInvalid {
		f.Shrunk = t.plain.Shrink(ctx, want.Program, f)
		h.cell.Line = f.Line()
	}
	return e.Complete()
}

// telling is the failure that names the sin, else the first of the exploration's verdict.
func (t *trial) telling(e lab.Explored) (worst lab.Failure, found bool) {
	for _, f := range e.Failures {
		if f.Report.Verdict != e.Verdict {
			continue
		}
		if _, named := t.worst(f.Report.Offences); named {
			return f, true
		}
		if !found {
			worst, found = f, true
		}
	}
	return worst, found
}

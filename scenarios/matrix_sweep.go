package scenarios

import (
	"context"

	"webhooklab/lab"
	"webhooklab/lab/report"
)

// bySweep cuts each of the suite's steps at every command: before it, behind it, and by the end of
// its backend. The other ways for a connection to end, and kills of processes and servers, are for
// the references, in tests of their own.
func (t *trial) bySweep(ctx context.Context, h *hearing) {
	for _, p := range t.suite.Swept {
		if t.want.Short && len(p.Sessions) > 1 {
			continue
		}
		want := lab.Sweeping{Program: p, Faults: lab.PairCuts(), First: t.sinner != nil}
		if ctx.Err() != nil || t.sweeps(ctx, h, want) {
			return
		}
		if h.cell.Ruling == report.Caught && t.caught(report.ByExploration) {
			return // it is broken anyhow, and what it is has been told
		}
	}
}

// sweeps hears what came of one sweep. If its first broken cell tells of something else than the
// sin, the rest is asked for as well, unless some order has told of that already.
func (t *trial) sweeps(ctx context.Context, h *hearing, want lab.Sweeping) bool {
	s := t.watched.Sweep(ctx, want)
	o := outcome{by: s.Program, runs: max(1, s.Struck()), verdict: s.Verdict, offences: s.Offences}
	for _, c := range s.Failures() {
		if _, named := t.worst(c.Offences); o.offences == nil || named {
			o.offences, o.line = c.Offences, c.Schedule.String()
		}
	}
	over := h.hears(o)
	retry := want.First && s.Verdict == lab.VerdictInvalid && s.Offences == nil
	if !over && retry && !t.caught(report.ByExploration) {
		want.First = false
		return t.sweeps(ctx, h, want)
	}
	return over
}

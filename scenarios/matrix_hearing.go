package scenarios

import (
	"slices"
	"time"

	"webhooklab/lab"
	"webhooklab/lab/report"
)

// A hearing is one judge with one subject: it ends with the first run that breaks the law which
// names the sin. What breaks another law is remembered, and counts for nothing if that one comes.
// The usual tests know no laws: whatever they say ends theirs.
type hearing struct {
	subject
	cell  report.Cell
	over  bool
	began time.Time
}

func newHearing(s subject, judge string) *hearing {
	return &hearing{subject: s, cell: report.Cell{Judge: judge}, began: time.Now()}
}

// An outcome is what came of some runs.
type outcome struct {
	by       string
	runs     int
	verdict  lab.Verdict
	offences []lab.Offence
	line     string
}

func played(r lab.Report, runs int) outcome {
	return outcome{by: r.Scenario, runs: runs, verdict: r.Verdict, offences: r.Offences,
		line: r.Schedule}
}

// hears enters an outcome and says whether the hearing is over.
func (h *hearing) hears(o outcome) bool {
	h.cell.Schedules += o.runs
	switch {
	case len(o.offences) == 0 || o.verdict == lab.VerdictValid || o.verdict == lab.VerdictNotRun:
	case o.verdict == lab.VerdictUnknown:
		if h.cell.Reason == "" {
			h.cell.Reason = o.by + ": " + o.offences[0].Text
		}
		h.over = h.sinner == nil
	default:
		h.catches(o)
	}
	return h.over
}

// catches enters a broken law, unless a better one is known.
func (h *hearing) catches(o outcome) {
	f, named := h.worst(o.offences)
	if h.cell.Ruling == "" || named {
		h.cell.Ruling, h.cell.Named, h.cell.By = report.Caught, named, o.by
		h.cell.Law, h.cell.Text, h.cell.Line = f.Law, f.Text, o.line
		h.cell.Reason = ""
	}
	if named {
		h.cell.FoundMS = ms(time.Since(h.began))
	}
	h.over = named || h.sinner == nil || !report.Strong(h.cell.Judge)
}

// worst is the offence that names the sin, else the first that is one.
func (s subject) worst(all []lab.Offence) (_ lab.Offence, named bool) {
	i := slices.IndexFunc(all, func(o lab.Offence) bool {
		return o.Verdict == lab.VerdictInvalid && s.names(o.Law)
	})
	if i >= 0 {
		return all[i], true
	}
	i = slices.IndexFunc(all, func(o lab.Offence) bool { return o.Verdict == lab.VerdictInvalid })
	return all[max(0, i)], false
}

// names says whether a law that was broken is the one that names the sin, or says the same of it.
func (s subject) names(law string) bool {
	for _, v := range slices.Concat(s.suite.Laws, s.suite.Audited) {
		if v.Law == law {
			law = v.Name
		}
	}
	return s.sinner != nil && (law == s.law || slices.Contains(sameLaw[law], s.law))
}

// skip says why this judge is not heard.
func (h *hearing) skip(reason string) { h.cell.Ruling, h.cell.Reason = report.NotRun, reason }

// closed is the cell, as it stands in the end.
func (h *hearing) closed() report.Cell {
	c := h.cell
	switch {
	case c.Ruling != "":
	case h.sinner != nil:
		c.Ruling = report.Missed
	case c.Reason != "":
		c.Ruling = report.NoWord
	default:
		c.Ruling = report.Clean
	}
	c.ElapsedMS = ms(time.Since(h.began))
	return c
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

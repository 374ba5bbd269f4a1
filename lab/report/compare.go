package report

import (
	"path/filepath"
	"slices"

	"webhooklab/lab"
)

// A Comparison sets what a run found against what an earlier one had found.
type Comparison struct {
	Baseline string    `json:"baseline"` // the earlier run, "" when there is none
	New      []Finding `json:"new"`
	Still    []Finding `json:"still"`
	Fixed    []Finding `json:"fixed"`    // their cases have held this time
	Unjudged []Finding `json:"unjudged"` // their cases were not judged, or failed otherwise
}

// Compare says what has become of the earlier findings. Since is kept of those that are still
// there; the new ones get this run's.
func Compare(r Run, baseline string, earlier []Finding) Comparison {
	c := Comparison{Baseline: baseline, New: []Finding{}, Still: []Finding{}, Fixed: []Finding{},
		Unjudged: []Finding{}}
	before := map[string]Finding{}
	for _, f := range earlier {
		before[f.Fingerprint] = f
	}
	for _, f := range Findings(r) {
		old, known := before[f.Fingerprint]
		if delete(before, f.Fingerprint); known {
			f.Since = old.Since
			c.Still = append(c.Still, f)
			continue
		}
		f.Since = filepath.Base(r.Folder)
		c.New = append(c.New, f)
	}
	for _, f := range earlier {
		if _, open := before[f.Fingerprint]; !open {
			continue
		}
		delete(before, f.Fingerprint)
		if r.heldAll(f) {
			c.Fixed = append(c.Fixed, f)
		} else {
			c.Unjudged = append(c.Unjudged, f)
		}
	}
	return c
}

// heldAll tells whether the case of a finding was judged in this run, and held.
func (r Run) heldAll(f Finding) bool {
	if f.Suite == Test {
		return r.Passed[f.Name]
	}
	held := false
	for _, e := range r.Judged() {
		same := e.Name == f.Name && (e.Suite == f.Suite || e.Suite == Replay && f.Suite == Scenario)
		switch {
		case !same:
		case e.Verdict == lab.VerdictValid && !e.NoFit:
			held = true
		default:
			return false
		}
	}
	return held
}

// Open are the findings that a later run has to know of.
func (c Comparison) Open() []Finding {
	return slices.Concat(c.New, c.Still, c.Unjudged)
}

// Any tells whether there is anything to say.
func (c Comparison) Any() bool {
	return len(c.New)+len(c.Still)+len(c.Fixed)+len(c.Unjudged) > 0
}

package lab

import (
	"slices"
	"strings"
)

// An Order is one schedule that was run to its end.
type Order struct {
	Line    string  `json:"line"`            // that replays it
	Drawn   bool    `json:"drawn,omitempty"` // at random, beyond the budget
	Verdict Verdict `json:"verdict"`
	End     int     `json:"end"` // which of Explored.Ends it came to, from 0
}

// An End is what the orders that end alike have in common.
type End struct {
	Answers string `json:"answers"` // what the senders were told
	State   string `json:"state"`   // what was left in the tables, a row a line
}

// count says how a schedule ended, and keeps it if all are to be listed. Of each it keeps the line
// that its report has anyhow, and a number: there may be thousands, of a few ends.
func (d *Explored) count(lf *leaf, list bool) {
	end := End{Answers: strings.Join(lf.answers, " "), State: lf.state}
	d.Outcomes[end.Answers]++
	d.States[end.Answers+"\n"+end.State]++
	if !list {
		return
	}
	at := slices.Index(d.Ends, end)
	if at < 0 {
		at = len(d.Ends)
		d.Ends = append(d.Ends, end)
	}
	d.Listed = append(d.Listed, Order{
		Line: lf.report.Schedule, Drawn: lf.drawn, Verdict: lf.report.Verdict, End: at,
	})
}

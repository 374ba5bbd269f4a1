package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"webhooklab/lab/report"
)

// difference is one day, source and type in which the provider sent more or less than is stored.
type difference struct {
	key
	sent, stored int64
	reasons      []string
	unexplained  int64
}

// comparison is what came of comparing.
type comparison struct {
	compared    int
	differences []*difference
}

// compare explains each difference by what the database knows, in this order: the provider counted
// deliveries and not events; deliveries were refused; events came after midnight. A refusal
// explains one missing event at most, and so does a late arrival. What remains is missing or extra.
func compare(sent counts, s stored) comparison {
	var c comparison
	open := map[key]*difference{}
	for _, k := range keysOf(sent, s) {
		c.compared++
		d := &difference{key: k, sent: sent.sent[k], stored: s.events[k]}
		if d.sent == d.stored {
			continue
		}
		c.differences = append(c.differences, d)
		open[k] = d
		d.unexplained = d.sent - d.stored
		d.explainDuplicates(s)
	}
	for _, d := range c.differences {
		if !s.known[d.source] {
			d.reasons = append(d.reasons, "unknown source: nothing of it ever came in; "+
				"compare its name with the routes")
			continue
		}
		d.explainRefusals(s.refused)
		d.explainMidnight(open, sent, s)
	}
	for _, d := range c.differences {
		switch {
		case d.unexplained > 0 && s.known[d.source]:
			d.reasons = append(d.reasons, fmt.Sprintf("%d missing: have them sent again",
				d.unexplained))
		case d.unexplained < 0:
			d.reasons = append(d.reasons, fmt.Sprintf("%d extra: not in the provider's count",
				-d.unexplained))
		}
	}
	return c
}

// keysOf are all that either side counted, on the provider's days, by day, source and type.
func keysOf(sent counts, s stored) []key {
	all := map[key]bool{}
	for k := range sent.sent {
		all[k] = true
	}
	for k, n := range s.events {
		if n > 0 && sent.first <= k.day && k.day <= sent.last {
			all[k] = true
		}
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b key) int {
		return cmp.Or(strings.Compare(a.day, b.day), strings.Compare(a.source, b.source),
			strings.Compare(a.kind, b.kind))
	})
}

// explain takes n off what is unexplained; the text has a place for n.
func (d *difference) explain(n int64, text string) {
	if n > 0 {
		d.unexplained -= n
		d.reasons = append(d.reasons, fmt.Sprintf(text, n))
	}
}

// explainDuplicates holds where they fill the gap exactly, alone or with the day's refusals.
func (d *difference) explainDuplicates(s stored) {
	duplicates := s.duplicates[d.key]
	rest := d.unexplained - duplicates
	if rest == 0 || rest > 0 && rest == s.refused[key{d.day, d.source, ""}] {
		d.explain(duplicates, "%d duplicates: the provider counts deliveries, not events")
	}
}

// explainRefusals uses up the source's refusals of the day. Their types are not known.
func (d *difference) explainRefusals(refused map[key]int64) {
	day := key{d.day, d.source, ""}
	n := min(d.unexplained, refused[day])
	if n > 0 {
		refused[day] -= n
		d.explain(n, "%d refused: see webhook_refusal")
	}
}

// explainMidnight sets what this day lacks against what the next one has too much.
func (d *difference) explainMidnight(
	open map[key]*difference, sent counts, s stored,
) {
	day, err := time.Parse(time.DateOnly, d.day)
	if err != nil || d.unexplained <= 0 {
		return
	}
	next := key{day.AddDate(0, 0, 1).Format(time.DateOnly), d.source, d.kind}
	var surplus int64
	if after := open[next]; after != nil {
		surplus = -after.unexplained
	} else if next.day > sent.last {
		surplus = s.events[next] // nobody else claims them
	}
	n := min(d.unexplained, surplus)
	if n <= 0 {
		return
	}
	d.explain(n, "%d arrived on the day after")
	if after := open[next]; after != nil {
		after.unexplained += n
		after.reasons = append(after.reasons, fmt.Sprintf("%d belong to the day before", n))
	}
}

// printDifferences gives the exit code as well.
func printDifferences(out io.Writer, c comparison) int {
	unexplained := 0
	for _, d := range c.differences {
		verdict := "explained"
		if d.unexplained != 0 {
			verdict = "UNEXPLAINED"
			unexplained++
		}
		fmt.Fprintf(out, "%s %q %q: sent %d, stored %d: %s: %s\n", d.day, d.source, d.kind,
			d.sent, d.stored, verdict, strings.Join(d.reasons, "; "))
	}
	fmt.Fprintf(out, "compared %d counts: %d equal, %d explained, %d unexplained\n", c.compared,
		c.compared-len(c.differences), len(c.differences)-unexplained, unexplained)
	if unexplained > 0 {
		return report.ExitBroken
	}
	return report.ExitHeld
}

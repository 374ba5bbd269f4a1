package report

import (
	"fmt"
	"strings"

	"webhooklab/lab"
)

// A tried is one line of what was run: how many held, of how many, of what.
type tried struct {
	Held, Of   int
	What, More string
}

// Whole tells that none of them failed.
func (t tried) Whole() bool { return t.Held == t.Of }

func triedOf(r Run) (all []tried) {
	for _, s := range suites {
		t := total(r.Entries, s.name)
		if t.of == 0 {
			continue
		}
		line := tried{Held: t.held, Of: t.of, What: s.many + " " + s.held}
		if t.of == 1 {
			line.What = s.one + " " + s.held
		}
		var more []string
		if t.runs > t.of {
			more = append(more, phrase(t.runs, "run", "runs"))
		}
		if t.overlaps > 0 {
			more = append(more, phrase(t.overlaps, "overlap", "overlaps")+" proven")
		}
		if (s.name == Loop || s.name == Free) && t.overlaps > 0 {
			more = append(more, fmt.Sprintf("at least %d in each run", t.poorest))
		}
		line.More = strings.Join(more, ", ")
		all = append(all, line)
	}
	return append(all, triedOrders(r.Explored)...)
}

// A reach is what all explored programs come to together.
type reach struct{ programs, held, explored, pruned, left, cells int }

func reachOf(all []Explored) (n reach) {
	for _, e := range all {
		if e.Verdict == lab.VerdictNotRun {
			continue
		}
		n.programs++
		if e.Verdict == lab.VerdictValid {
			n.held++
		}
		n.explored += e.Explored
		n.pruned += e.Pruned
		n.left += e.Left
		n.cells += e.Cells
	}
	return n
}

func triedOrders(all []Explored) []tried {
	n := reachOf(all)
	if n.programs == 0 {
		return nil
	}
	var more []string
	if n.explored+n.pruned+n.left > 0 {
		more = append(more, fmt.Sprintf("%s played, %s pruned, %s left",
			phrase(n.explored, "order", "orders"), grouped(n.pruned), grouped(n.left)))
	}
	if n.cells > 0 {
		more = append(more, phrase(n.cells, "crash point", "crash points")+" struck")
	}
	return []tried{{Held: n.held, Of: n.programs, What: "explored programs held",
		More: strings.Join(more, "; ")}}
}

// allProofs is what the clean runs prove, in paragraphs: never more than was run.
func allProofs(r Run) (all []string) {
	for _, text := range proofs(r.Entries) {
		all = append(all, unwrapped(text))
	}
	n := reachOf(r.Explored)
	if n.held == 0 {
		return all
	}
	if n.explored > 0 && n.held == n.programs {
		text := fmt.Sprintf("Explored: %s of these programs played, and every law held in each; "+
			"%s pruned, because one that was played stands for each of them. ",
			phrase(n.explored, "order", "orders"), phrase(n.pruned, "order was", "orders were"))
		if n.left == 0 {
			text += "No order of their commands is left. Other programs are not covered."
		} else {
			text += fmt.Sprintf("Nothing is known of the %s left.",
				phrase(n.left, "order that was", "orders that were"))
		}
		all = append(all, text)
	}
	if n.cells > 0 && n.held == n.programs {
		all = append(all, fmt.Sprintf("Crashes: %s struck, and the laws held after each. "+
			"A crash inside a command is not among them.",
			phrase(n.cells, "crash point was", "crash points were")))
	}
	return all
}

// A notRun is one reason, with what it kept from running.
type notRun struct {
	Why   string
	Names []string
}

func notRunOf(entries []Entry) (all []notRun) {
	at := map[string]int{}
	for _, e := range entries {
		if e.Verdict != lab.VerdictNotRun {
			continue
		}
		why := strings.TrimPrefix(e.because(), "not run: ")
		if _, known := at[why]; !known {
			at[why] = len(all)
			all = append(all, notRun{Why: why})
		}
		n := &all[at[why]]
		n.Names = append(n.Names, e.Name)
	}
	return all
}

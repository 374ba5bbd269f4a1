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

// A reach is what all explored programs come to together. Whole are those that held, and of whose
// tree no branch is left.
type reach struct{ programs, held, whole, explored, pruned, left, cells int }

func reachOf(all []Explored) (n reach) {
	for _, e := range all {
		if e.Verdict == lab.VerdictNotRun {
			continue
		}
		n.programs++
		if e.Verdict == lab.VerdictValid {
			n.held++
			if e.Explored > 0 && e.Left == 0 {
				n.whole++
			}
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
	of := Explored{Explored: n.explored, Pruned: n.pruned, Left: n.left, Cells: n.cells}
	return []tried{{Held: n.held, Of: n.programs, What: "explored programs held",
		More: of.Played()}}
}

// allProofs is what the clean runs prove, in paragraphs: never more than was run.
func allProofs(r Run) (all []string) {
	for _, text := range proofs(r.Entries) {
		all = append(all, unwrapped(text))
	}
	n := reachOf(r.Explored)
	if n.held == 0 || n.held < n.programs {
		return all
	}
	if n.explored > 0 {
		all = append(all, n.orders())
	}
	if n.cells > 0 {
		all = append(all, fmt.Sprintf("Crashes: %s struck, and the laws held after each. "+
			"A crash at any other place is not among them.",
			phrase(n.cells, "crash point was", "crash points were")))
	}
	return all
}

// orders is what exploring proves.
func (n reach) orders() string {
	text := fmt.Sprintf("Explored: %s played, and every law held in each. ",
		phrase(n.explored, "order was", "orders were"))
	if n.whole > 0 {
		text += fmt.Sprintf("Of %s, each order of the commands was played or ends like one that "+
			"was, if what a command touches is known rightly. ",
			phrase(n.whole, "program", "programs"))
	}
	if n.left > 0 {
		text += fmt.Sprintf("Nothing is known of what is in the %s left. ",
			phrase(n.left, "branch that was", "branches that were"))
	}
	return text + "Programs that were not explored are not covered."
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

package report

import (
	"fmt"
	"strings"

	"webhooklab/lab"
)

// A matrix is one contract: each promise, what shows that the reference keeps it, and the broken
// receivers that are caught by it.
type matrix struct {
	Title    string
	Promises []promised
	Laws     []Promise
}

type promised struct {
	Law       string
	Scenarios []mention
	Again     []string  // loops
	Catches   []mention // broken receivers
}

// A mention is a name with what came of it, and where its timeline is.
type mention struct{ Name, State, Anchor string }

func matrixOf(contracts []Contract, entries []Entry, at map[string]string) (all []matrix) {
	for _, c := range contracts {
		m := matrix{Title: c.Title, Laws: c.Laws}
		for _, p := range c.Promises {
			if n := len(m.Promises); n == 0 || m.Promises[n-1].Law != p.Law {
				m.Promises = append(m.Promises, promised{Law: p.Law})
			}
			m.Promises[len(m.Promises)-1].add(p.Name, entries, at)
		}
		all = append(all, m)
	}
	return all
}

// Counts says in a line what the matrix says row by row. A promise is held if all scenarios of it
// are.
func (m matrix) Counts() string {
	states, caught := map[string]int{}, 0
	for _, p := range m.Promises {
		states[p.worst()]++
		for _, c := range p.Catches {
			if c.State == stateCaught {
				caught++
			}
		}
	}
	parts := []string{fmt.Sprintf("%d of %s held", states[stateHeld],
		phrase(len(m.Promises), "promise", "promises"))}
	for _, s := range statesByWeight[:len(statesByWeight)-1] {
		if states[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", states[s], s))
		}
	}
	if caught > 0 {
		parts = append(parts, phrase(caught, "broken receiver", "broken receivers")+" caught")
	}
	return strings.Join(append(parts, phrase(len(m.Laws), "law", "laws")), " · ")
}

// worst is the state of the scenario that weighs most.
func (p promised) worst() string {
	for _, s := range statesByWeight {
		for _, c := range p.Scenarios {
			if c.State == s {
				return s
			}
		}
	}
	return stateAbsent
}

const (
	stateHeld, stateCaught, stateAbsent = "held", "caught", "not in this run"
	stateBroken, stateUnjudged          = "broken", "not judged"
	stateNotRun                         = "not run"
)

var statesByWeight = []string{stateBroken, stateUnjudged, stateNotRun, stateAbsent, stateHeld}

// add puts what the entries say of one scenario into the row of its promise.
func (p *promised) add(scenario string, entries []Entry, at map[string]string) {
	c := mention{Name: scenario, State: stateAbsent, Anchor: at[Scenario+" "+scenario]}
	for _, e := range entries {
		switch {
		case e.Suite == Scenario && e.Name == scenario:
			c.State = state(e.Verdict)
		case e.Suite == Loop && e.Name == scenario:
			p.Again = append(p.Again, looped(e, "stepped", scenario))
		case e.Suite == Free && e.Name == scenario:
			p.Again = append(p.Again, looped(e, "released together", scenario))
		case e.Suite == Flawed && e.CaughtBy == scenario:
			p.Catches = append(p.Catches, caughtBy(e, at))
		}
	}
	p.Scenarios = append(p.Scenarios, c)
}

func looped(e Entry, how, scenario string) string {
	text := fmt.Sprintf("%s %s× %s", scenario, grouped(e.Runs), how)
	if e.Verdict != lab.VerdictValid {
		text += ": " + state(e.Verdict)
	}
	return text
}

func caughtBy(e Entry, at map[string]string) mention {
	c := mention{Name: e.Name, State: stateCaught, Anchor: at[Flawed+" "+e.Name]}
	if e.Verdict != lab.VerdictValid {
		c.State = state(e.Verdict)
	}
	return c
}

// state says in a word what a verdict means in the matrix.
func state(v lab.Verdict) string {
	return map[lab.Verdict]string{
		lab.VerdictValid: stateHeld, lab.VerdictNotRun: stateNotRun,
		lab.VerdictUnknown: stateUnjudged, lab.VerdictInvalid: stateBroken,
	}[v]
}

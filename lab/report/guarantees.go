package report

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"webhooklab/lab"
)

// Guarantees are what contracts promise, what stands behind each promise, and where it ends: what a
// team attaches to its design review.
type Guarantees struct {
	Contracts   []Guaranteed
	NotPromised []string // by any of them
	Run         *Run     // whose verdicts stand beside the names; nil: nobody's do
}

// A Guaranteed is one contract. NotPromised is where this one ends, beside the others.
type Guaranteed struct {
	Name, Title string
	Promises    []Guarantee
	Situations  []Situation // played in every order
	Cuts        []Situation // cut at every command
	Laws        []Demand
	NotPromised []string
}

// A Guarantee is one promise, with every scenario that shows it.
type Guarantee struct {
	Law     string
	Stories []Story
}

// A Story is a scenario as it is told: what has happened and why it matters, under which conditions
// it is played, its transcript ("" where no two runs are alike), and the broken receivers that it
// stops.
type Story struct {
	Name, Why  string
	Conditions []string
	Transcript string
	Stops      []Stopped
}

// A Stopped is a receiver that is broken on purpose, and what would come of it.
type Stopped struct{ Name, Harm string }

// A Situation is a program: sessions without an order, to be played in all or cut everywhere.
type Situation struct {
	Name, Law string
	Sessions  []string // each with what it does
	Inside    bool     // it is played with stops inside statements
	Stops     []Stopped
	Command   string // that plays it
}

// A Demand is a law of the database, as SQL that must return no rows.
type Demand struct{ Name, Law, SQL string }

// guaranteesName is the file that a run's guarantees are written to.
const guaranteesName = "guarantees.html"

// WriteGuarantees makes guarantees.html in dir, beside the page of the run.
func WriteGuarantees(dir string, g Guarantees) error {
	if dir == "" {
		return nil
	}
	text, err := g.HTML()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, guaranteesName), text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("report: make the page of guarantees: %w", err)
	}
	return nil
}

// Tells says whether a story is told anew, and not the same as that of the one before it.
func (p Guarantee) Tells(n int) bool {
	return p.Stories[n].Why != "" && (n == 0 || p.Stories[n-1].Why != p.Stories[n].Why)
}

// Counts says in a line what a contract comes to. A promise is held if all scenarios of it are.
func (g Guarantees) Counts(c Guaranteed) string {
	scenarios, stopped, held := 0, 0, 0
	for _, p := range c.Promises {
		scenarios += len(p.Stories)
		broken := func(s Story) bool { return g.Played(s.Name) != stateHeld }
		if !slices.ContainsFunc(p.Stories, broken) {
			held++
		}
		for _, s := range p.Stories {
			stopped += len(s.Stops)
		}
	}
	for _, s := range c.Situations {
		stopped += len(s.Stops)
	}
	promises := phrase(len(c.Promises), "promise", "promises")
	if g.Run != nil {
		promises = fmt.Sprintf("%d of %s held", held, promises)
	}
	return strings.Join([]string{
		promises, phrase(scenarios, "scenario", "scenarios"),
		phrase(stopped, "broken receiver", "broken receivers") + " to be stopped",
		phrase(len(c.Situations), "situation", "situations") + " for every order",
		phrase(len(c.Cuts), "situation", "situations") + " for every cut",
		phrase(len(c.Laws), "law", "laws"),
	}, " · ")
}

// Title is the heading of the whole.
func (g Guarantees) Title() string {
	if len(g.Contracts) == 1 {
		return g.Contracts[0].Title
	}
	return "What is promised"
}

// Verdict says what the run came to, or that there is none.
func (g Guarantees) Verdict() string {
	if g.Run == nil {
		return "No run stands behind this page: it says what is promised and how that is put to the " +
			"test, not what came of it. ./run_lab.sh makes one that says both."
	}
	code, reason := g.Run.ExitCode()
	return Headline(code) + ": " + strings.TrimRight(firstLine(reason), ".:") + "."
}

// Class names the verdict for the style sheet.
func (g Guarantees) Class() string {
	if g.Run == nil {
		return "none"
	}
	code, _ := g.Run.ExitCode()
	return strings.ToLower(strings.ReplaceAll(Headline(code), " ", ""))
}

// Facts are of the run.
func (g Guarantees) Facts() []fact {
	if g.Run == nil {
		return nil
	}
	return facts(*g.Run)
}

// Played is the state of a scenario in the run: of all that was played of it, what weighs most.
func (g Guarantees) Played(scenario string) string {
	return g.worst(func(e Entry) bool {
		return e.Name == scenario && slices.Contains([]string{Scenario, Loop, Free}, e.Suite)
	})
}

// Again says how often a scenario was repeated in the run.
func (g Guarantees) Again(scenario string) (all []string) {
	if g.Run == nil {
		return nil
	}
	for _, e := range g.Run.Entries {
		switch {
		case e.Name != scenario || e.Runs < 2:
		case e.Suite == Loop:
			all = append(all, strings.TrimSpace(looped(e, "stepped", "")))
		case e.Suite == Free:
			all = append(all, strings.TrimSpace(looped(e, "released together", "")))
		}
	}
	return all
}

// Stopped is the state of a broken receiver in the run.
func (g Guarantees) Stopped(sinner string) string {
	s := g.worst(func(e Entry) bool { return e.Suite == Flawed && e.Name == sinner })
	if s == stateHeld {
		return stateCaught
	}
	return s
}

// worst is the state that weighs most of these entries, "" without a run.
func (g Guarantees) worst(of func(Entry) bool) string {
	if g.Run == nil {
		return ""
	}
	worst, found := lab.VerdictValid, false
	for _, e := range g.Run.Entries {
		if of(e) {
			worst, found = max(worst, e.Verdict), true
		}
	}
	if !found {
		return stateAbsent
	}
	return state(worst)
}

// Explored is what the run says of a situation, one for each way in which it was played.
func (g Guarantees) Explored(contract, situation string) (all []Explored) {
	if g.Run == nil {
		return nil
	}
	for _, x := range g.Run.Explored {
		same := func(y Explored) bool { return x.Verdict == y.Verdict && x.Played() == y.Played() }
		if x.Program == situation && (x.Suite == contract || x.Suite == "") &&
			!slices.ContainsFunc(all, same) {
			all = append(all, x)
		}
	}
	return all
}

// Beside is what the run explored of a contract beside its situations.
func (g Guarantees) Beside(c Guaranteed) (all []Explored) {
	if g.Run == nil {
		return nil
	}
	for _, x := range g.Run.Explored {
		same := func(s Situation) bool { return s.Name == x.Program }
		if x.Suite == c.Name && !slices.ContainsFunc(c.Situations, same) &&
			!slices.ContainsFunc(c.Cuts, same) {
			all = append(all, x)
		}
	}
	return all
}

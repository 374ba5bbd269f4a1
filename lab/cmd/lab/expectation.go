package main

import (
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"webhooklab/lab/postgres"
	"webhooklab/lab/report"
	"webhooklab/scenarios"
)

// An expected case is a verdict to come.
type expected struct {
	suite, name string
	takes       time.Duration
}

// An expectation is what a run will have to do, as far as that is known: the scenarios from their
// list, everything else and all durations from earlier runs.
type expectation struct {
	cases    []expected
	packages map[string]packageTime
}

// A packageTime is how long a package takes beside its verdicts, and whether that is known.
type packageTime struct {
	rest  time.Duration
	known bool
}

// expect looks at the run before this one, and at the recorded one for what that did not run.
func (g *gate) expect() expectation {
	known := map[string]report.Entry{}
	for _, dir := range []string{filepath.Join(g.root, "logs", "recorded"), g.before} {
		entries, _ := report.Read(dir) // what can't be read is not known
		drawn := 0
		for _, e := range entries {
			if e.Suite == report.Law {
				drawn += e.Runs
			}
		}
		programs, _ := report.ReadExplored(dir)
		for _, x := range programs {
			entries = append(entries, x.Entry())
		}
		for _, e := range entries {
			e.Elapsed = g.scaled(e, drawn)
			known[e.Suite+" "+e.Name] = e
		}
	}
	x := expectation{packages: g.packages()}
	for _, e := range known {
		if g.willRun(e.Suite, e.Name) {
			x.cases = append(x.cases, expected{e.Suite, e.Name, e.Elapsed})
		}
	}
	x.addScenarios(g, known)
	x.addPrograms(g, known)
	return x
}

// packages are those that will run, with what the run before says of them. A run that leaves most
// of a package out has little in it that no verdict tells of.
func (g *gate) packages() map[string]packageTime {
	all := map[string]packageTime{}
	elapsed := readTests(g.before).elapsed
	judged := map[string]time.Duration{}
	entries, _ := report.Read(g.before)
	for _, e := range entries {
		judged[packageOf(e.Suite)] += e.Elapsed
	}
	for _, argument := range g.whichTests() {
		name, ours := strings.CutPrefix(argument, "./")
		if !ours {
			continue
		}
		name = filepath.Base(name)
		took, known := elapsed[name]
		rest := max(0, time.Duration(took*float64(time.Second))-judged[name])
		all[name] = packageTime{rest, known}
		if !g.whole() {
			all[name] = packageTime{0, true}
		}
	}
	return all
}

// whole tells that the run leaves nothing out.
func (g *gate) whole() bool { return g.scenario == "" && g.law == "" && g.replay == "" }

// fewest is how many sequences a law draws at least; one that has drawn fewer has a fixed number.
const fewest = 20

// scaled is how long a case will take that took so long with other loops or sequences.
func (g *gate) scaled(e report.Entry, drawn int) time.Duration {
	switch {
	case (e.Suite == report.Loop || e.Suite == report.Free) && e.Runs > 0:
		return e.Elapsed * time.Duration(g.loops) / time.Duration(e.Runs)
	case e.Suite == report.Law && drawn > 0 && e.Runs >= fewest:
		runs := max(fewest, e.Runs*g.sequences/drawn)
		return e.Elapsed * time.Duration(runs) / time.Duration(e.Runs)
	}
	return e.Elapsed
}

// willRun tells of all suites but those whose cases are known from a list.
func (g *gate) willRun(suite, name string) bool {
	switch suite {
	case report.Scenario, report.Loop, report.Free, report.Replay, report.Exploration:
		return false
	case report.Law:
		if g.law != "" {
			matches, err := regexp.MatchString(g.law, name)
			return err == nil && matches
		}
	}
	return g.whole()
}

// unknownTakes is what a scenario is expected to take that no earlier run knows.
const unknownTakes = 100 * time.Millisecond

func (x *expectation) addScenarios(g *gate, known map[string]report.Entry) {
	if g.replay != "" {
		name, _, _ := strings.Cut(g.replay, "@")
		takes := known[report.Scenario+" "+name].Elapsed
		x.cases = append(x.cases, expected{report.Replay, name, takes})
	}
	if g.law != "" || g.replay != "" {
		return
	}
	filter := regexp.MustCompile(g.scenario) // it was checked with the options
	for _, suite := range scenarios.Suites {
		for _, sc := range suite.Scenarios {
			if !filter.MatchString(sc.Name) {
				continue
			}
			suites := []string{report.Scenario}
			if sc.Concurrent && scenarios.Profile(sc) == postgres.Fast {
				suites = append(suites, map[bool]string{true: report.Free, false: report.Loop}[sc.Free])
			}
			for _, suite := range suites {
				takes := unknownTakes
				if e, ok := known[suite+" "+sc.Name]; ok {
					takes = e.Elapsed
				} else if suite != report.Scenario {
					takes *= time.Duration(g.loops)
				}
				x.cases = append(x.cases, expected{suite, sc.Name, takes})
			}
		}
	}
}

// addPrograms adds those that are explored; a short run leaves out three sessions at once.
func (x *expectation) addPrograms(g *gate, known map[string]report.Entry) {
	tests := strings.Join(g.whichTests(), " ")
	if !g.whole() && !strings.Contains(tests, "TestEveryOrder") {
		return
	}
	filter := regexp.MustCompile(g.scenario)
	for _, suite := range scenarios.Suites {
		for _, p := range suite.Programs {
			if !filter.MatchString(p.Name) || g.short && len(p.Sessions) > 2 {
				continue
			}
			takes := unknownTakes
			if e, ok := known[report.Exploration+" "+p.Name]; ok {
				takes = e.Elapsed
			}
			x.cases = append(x.cases, expected{report.Exploration, p.Name, takes})
		}
	}
}

// packageOf is the package whose tests give verdicts of a suite.
func packageOf(suite string) string {
	if suite == report.Law {
		return "properties"
	}
	return "scenarios"
}

// estimate begins one for what is expected.
func (x expectation) estimate() estimate {
	e := estimate{lanes: map[string]*lane{}, procs: runtime.GOMAXPROCS(0)}
	for name, p := range x.packages {
		e.lanes[name] = newLane()
		e.lanes[name].rest, e.lanes[name].measured = p.rest, p.known
	}
	for _, c := range x.cases {
		if lane := e.lanes[packageOf(c.suite)]; lane != nil {
			lane.expect(c.suite+" "+c.name, c.takes)
		}
	}
	return e
}

// count is how many cases are expected of these suites.
func (x expectation) count(suites ...string) (n int) {
	for _, c := range x.cases {
		if slices.Contains(suites, c.suite) {
			n++
		}
	}
	return n
}

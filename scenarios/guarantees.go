package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"webhooklab/lab"
	"webhooklab/lab/postgres"
	"webhooklab/lab/report"
)

// Guarantees is what these suites promise, with everything that shows it, as a report tells it.
func Guarantees(suites ...Suite) report.Guarantees {
	g := report.Guarantees{NotPromised: NotPromised}
	for _, suite := range suites {
		c := report.Guaranteed{Name: suite.Name, Title: suite.Title, NotPromised: suite.NotPromised}
		for _, sc := range suite.Scenarios {
			c.Promises = toldUnder(c.Promises, sc)
		}
		for _, p := range suite.Programs {
			c.Situations = append(c.Situations, situation(suite, "explore", p))
		}
		for _, p := range suite.Swept {
			c.Cuts = append(c.Cuts, situation(suite, "sweep", p))
		}
		if suite.Name == SnapshotSuite.Name {
			c.Situations = append(c.Situations, inside()...)
		}
		for _, law := range slices.Concat(suite.Laws, suite.Audited) {
			c.Laws = append(c.Laws, report.Demand{Name: law.Name, Law: law.Law,
				SQL: strings.TrimSpace(law.SQL)})
		}
		g.Contracts = append(g.Contracts, c)
	}
	return g
}

// toldUnder puts a scenario under its law, which stands where its first scenario does.
func toldUnder(promises []report.Guarantee, sc lab.Scenario) []report.Guarantee {
	i := slices.IndexFunc(promises, func(p report.Guarantee) bool { return p.Law == sc.Law })
	if i < 0 {
		i, promises = len(promises), append(promises, report.Guarantee{Law: sc.Law})
	}
	told := report.Story{Name: sc.Name, Why: Story(sc.Name), Conditions: conditions(sc)}
	told.Transcript, _ = Transcript(sc.Name)
	for _, sinner := range Sinners {
		if sinner.Scenario == sc.Name {
			told.Stops = append(told.Stops, report.Stopped{Name: sinner.Name, Harm: sinner.Harm})
		}
	}
	promises[i].Stories = append(promises[i].Stories, told)
	return promises
}

// abilities is what a scenario asks of its server, in words.
var abilities = map[postgres.Ability]string{
	postgres.Crash:           "It is played only on a server that may be killed.",
	postgres.Signal:          "It is played only where single backends can be stopped.",
	postgres.DeadlockTimeout: "It is played only where deadlock_timeout can be set.",
	postgres.Superuser:       "It is played only for a superuser.",
}

// conditions are those under which a scenario is played.
func conditions(sc lab.Scenario) (all []string) {
	if sc.Free {
		all = append(all, "Its sessions run freely from one barrier: no two transcripts are alike, and "+
			"what it shows it shows of the orders that came up.")
	}
	if sc.Reference {
		all = append(all, "It touches the tables of schema.sql by name: a receiver with tables of its "+
			"own is not put through it.")
	}
	for _, need := range sc.Needs {
		all = append(all, abilities[need])
	}
	return all
}

func situation(suite Suite, command string, p lab.Program) report.Situation {
	return report.Situation{Name: p.Name, Law: p.Law, Sessions: acts(p),
		Command: fmt.Sprintf("lab %s -receiver %s -program %s", command, suite.Name, p.Name)}
}

// acts says of each session of a program what it does.
func acts(p lab.Program) (all []string) {
	for _, a := range p.Sessions {
		var does []string
		for _, act := range a.Does {
			does = append(does, act.String())
		}
		all = append(all, a.Name+": "+strings.Join(does, ", then "))
	}
	return all
}

// inside are the situations of sinners that sin within one statement. One that stops several stands
// once.
func inside() (all []report.Situation) {
	for _, sinner := range SinnersInside {
		i := slices.IndexFunc(all, func(s report.Situation) bool {
			return s.Name == sinner.Program.Name
		})
		if i < 0 {
			i = len(all)
			all = append(all, report.Situation{Name: sinner.Program.Name, Law: sinner.Program.Law,
				Sessions: acts(sinner.Program), Inside: true, Command: "./run_lab.sh"})
		}
		all[i].Stops = append(all[i].Stops, report.Stopped{Name: sinner.Name, Harm: sinner.Harm})
	}
	return all
}

package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"webhooklab/lab"
	"webhooklab/lab/report"
)

// A Suite is one contract: its scenarios, the reference receiver that keeps it, how the judge reads
// the receiver's tables, and the laws that hold after every run.
type Suite struct {
	Name      string
	Title     string // what it is the contract of, in words
	Receiver  lab.NewReceiver
	State     lab.State
	Laws      []lab.Invariant
	Effects   string // SQL on the clone after the schema: tables of the test's own
	Reset     string // SQL before each run, where runs would see each other's rows
	Audit     string // SQL that watches the tables of schema.sql, for the laws of Audited
	Audited   []lab.Invariant
	Scenarios []lab.Scenario
	Programs  []lab.Program // what is run in every order
	Swept     []lab.Program // what is cut at every command

	NotPromised []string // where it ends, beside what NotPromised says of all
}

// Suites is everything that the gate plays.
var Suites = []Suite{SnapshotSuite, EmailSuite, AtomicSuite, LeasedSuite, OutboxSuite, DoorSuite}

// Contracts is what the suites promise, as a report shows it.
func Contracts() (all []report.Contract) {
	for _, suite := range Suites {
		c := report.Contract{Name: suite.Name, Title: suite.Title}
		for _, sc := range suite.Scenarios {
			c.Promises = append(c.Promises, report.Promise{Name: sc.Name, Law: sc.Law})
		}
		for _, law := range slices.Concat(suite.Laws, suite.Audited) {
			c.Laws = append(c.Laws, report.Promise{Name: law.Name, Law: law.Law})
		}
		all = append(all, c)
	}
	return all
}

// Named finds a scenario and its suite.
func Named(name string) (Suite, lab.Scenario, error) {
	var names []string
	for _, suite := range Suites {
		for _, sc := range suite.Scenarios {
			if sc.Name == name {
				return suite, sc, nil
			}
			names = append(names, sc.Name)
		}
	}
	return Suite{}, lab.Scenario{}, fmt.Errorf("there is no scenario %q: want one of %s",
		name, strings.Join(names, ", "))
}

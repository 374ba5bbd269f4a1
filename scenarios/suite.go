package scenarios

import (
	"fmt"
	"strings"

	"webhooklab/lab"
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
}

// Suites is everything that the gate plays.
var Suites = []Suite{SnapshotSuite, EmailSuite, AtomicSuite, LeasedSuite, OutboxSuite, DoorSuite}

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

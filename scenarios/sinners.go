package scenarios

import (
	"slices"

	"webhooklab/lab"
	"webhooklab/lab/flawed"
)

// A Sinner is a receiver that is broken on purpose, by one sin: the file of that name in lab/flawed.
type Sinner struct {
	Name     string
	Kind     string // the real fault that it is, one of Kinds
	Same     string // the sinner with the same sin in another place, if that is told apart here
	Harm     string // what comes of it in production
	Suite    Suite  // the contract that it breaks
	Receiver lab.NewReceiver
	State    lab.State // how the judge reads its tables
	Alter    string    // SQL on the suite's schema: the guard that it does without
	Scenario string    // what catches it
	Law      string    // what it breaks there: an invariant's name, or the scenario's own sentence
}

// Options are those under which the sinner is shown.
func (s Sinner) Options() Options {
	return Options{Receiver: s.Receiver, State: s.State, Alter: s.Alter}
}

// Sinners are all that a scenario catches, each by the one that it names. What sins inside a single
// statement is in SinnersInside.
var Sinners = slices.Concat(
	sinnersAgainst(SnapshotSuite, flawed.WithoutRefusals, "", snapshotSinners),
	sinnersAgainst(EmailSuite, EmailSuite.State, "", emailSinners),
	sinnersAgainst(AtomicSuite, AtomicWithoutRefusals, withoutStateMachine, atomicSinners),
	sinnersAgainst(LeasedSuite, LeasedSuite.State, withoutStateMachine, leasedSinners),
	sinnersAgainst(OutboxSuite, OutboxSuite.State, "", outboxSinners),
	sinnersAgainst(DoorSuite, DoorSuite.State, "", doorSinners),
)

// AtomicWithoutRefusals is what the flawed handlers show: they keep no refusals.
var AtomicWithoutRefusals = slices.DeleteFunc(slices.Clone(AtomicSuite.State),
	func(table lab.Table) bool { return table.Name == "refusals" })

// withoutStateMachine is a schema without the trigger that would refuse some sins by itself.
const withoutStateMachine = `DROP TRIGGER webhook_receipt_step ON webhook_receipt;`

// sinnersAgainst says of each of these whose contract it breaks, what it shows where it says nothing
// of that itself, and by which law it is caught where that is the scenario's own.
func sinnersAgainst(suite Suite, state lab.State, alter string, sinners []Sinner) []Sinner {
	laws := map[string]string{}
	for _, sc := range suite.Scenarios {
		laws[sc.Name] = sc.Law
	}
	all := slices.Clone(sinners)
	for i := range all {
		all[i].Suite, all[i].Alter = suite, alter+all[i].Alter
		if all[i].State == nil {
			all[i].State = state
		}
		if all[i].Law == "" {
			all[i].Law = laws[all[i].Scenario]
		}
	}
	return all
}

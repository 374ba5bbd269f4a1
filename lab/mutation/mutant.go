package mutation

import (
	"fmt"
	"time"
)

// Kind tells where a guard stands.
type Kind string

const (
	Key      Kind = "key" // primary or unique
	Check    Kind = "check"
	NotNull  Kind = "not null"
	Identity Kind = "identity"
	Index    Kind = "index" // of no constraint
	Trigger  Kind = "trigger"
	Code     Kind = "code" // a part of a function, a view or a CHECK
	SQL      Kind = "sql"  // a clause of a receiver's statement
)

// A Mutant is a schema, or a receiver, without one of its guards.
type Mutant struct {
	Name  string // schema:webhook_inbox.webhook_inbox_event_once, sql:snapshots.claim_is_untargeted
	Kind  Kind
	Of    string // the table, or the receiver, that the guard belongs to
	Alter string // SQL that takes the guard from a database that holds the schema
	Edit  Edit   // of the receiver's SQL; zero where the guard is the schema's
	Fault string // why it can't be made, if it can't
}

// Taken says in one line what was done.
func (m Mutant) Taken() string {
	switch {
	case m.Edit.Old == "":
		return oneLine(m.Alter)
	case m.Alter == "":
		return m.Edit.String()
	default:
		return m.Edit.String() + ", after " + oneLine(m.Alter)
	}
}

// Verdict is what came of a mutant.
type Verdict string

const (
	Caught     Verdict = "caught"
	Broken     Verdict = "broken"     // it can't even do its work: nobody was put to the test
	Equivalent Verdict = "equivalent" // nobody can tell it apart, and the reason is written down
	Survived   Verdict = "SURVIVED"
)

// A Finding is the verdict on one mutant.
type Finding struct {
	Mutant
	Verdict Verdict
	By      string // who caught it: a scenario or a probe
	Law     string // which law it broke
	Reason  string // why it is broken, equivalent or alive
	Elapsed time.Duration
}

// String is the finding as one line of a report.
func (f Finding) String() string {
	line := fmt.Sprintf("%-10s %s (%s)", f.Verdict, f.Name, f.Kind)
	if f.By != "" {
		line += " by " + f.By + ": " + f.Law
	}
	if f.Reason != "" {
		line += ": " + f.Reason
	}
	return line
}

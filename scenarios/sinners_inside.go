package scenarios

import (
	"webhooklab/lab"
	"webhooklab/lab/flawed"
)

// A SinnerInside sins inside one statement. Between commands nothing is to be seen: it is caught by
// exploring Program with gates, and passes the same program without.
type SinnerInside struct {
	Name     string
	Harm     string // what comes of it in production
	Receiver lab.NewReceiver
	Alter    string // SQL on the suite's schema: the guard that it does without
	Program  lab.Program
}

// SinnersInside are receivers of snapshots.
var SinnersInside = []SinnerInside{
	{Name: "where_not_exists", Program: copiesAtOnce, Receiver: flawed.WhereNotExists,
		Harm: "a copy in flight is answered by an error, and sent again for days"},
	{Name: "where_not_exists_without_keys", Program: copiesAtOnce,
		Receiver: flawed.WhereNotExists, Alter: flawed.WhereNotExistsAlter,
		Harm: "a copy in flight is accepted as an event of its own"},
	{Name: "guard_in_sub_select", Program: revisionsAtOnce, Receiver: flawed.GuardInSubSelect,
		Harm: "an older state overwrites a newer one that was written at the same time"},
}

var copiesAtOnce = lab.Program{
	Name: "copies_at_once", Law: "one event makes one change, however many copies are in flight",
	Answers: []string{"applied duplicate", "duplicate applied"},
	Sessions: []lab.Actor{
		{Name: "first", Does: []lab.Act{lab.Delivers(paid)}},
		{Name: "retry", Does: []lab.Act{lab.Delivers(paid)}},
	},
}

var revisionsAtOnce = lab.Program{
	Name:    "revisions_at_once",
	Law:     "any order of concurrent revisions ends at the greatest, all of them accepted",
	Answers: []string{"applied applied", "stale applied"},
	Before:  func(l *lab.Lab) { l.Session("earlier").Send(revision(1)) },
	Sessions: []lab.Actor{
		{Name: "older", Does: []lab.Act{lab.Delivers(revision(2))}},
		{Name: "newer", Does: []lab.Act{lab.Delivers(revision(3))}},
	},
}

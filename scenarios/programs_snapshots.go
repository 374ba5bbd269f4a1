package scenarios

import "webhooklab/lab"

// copyOf is an event that is told apart from revision n by nothing.
func program(name, law string, answers []string, does ...lab.Actor) lab.Program {
	return lab.Program{Name: name, Law: law, Answers: answers, Sessions: does}
}

func actor(name string, deliveries ...lab.Delivery) lab.Actor {
	a := lab.Actor{Name: name}
	for _, d := range deliveries {
		a.Does = append(a.Does, lab.Delivers(d))
	}
	return a
}

// TwoCopies is one event, delivered twice at once.
var TwoCopies = program("two_copies",
	"one event makes one change, however many copies are in flight",
	[]string{"applied duplicate", "duplicate applied"},
	actor("first", paid), actor("retry", paid))

// TwoRevisions are two states of one object, delivered at once.
var TwoRevisions = program("two_revisions",
	"any order of concurrent revisions ends at the greatest, all of them accepted",
	[]string{"applied applied", "stale applied"},
	actor("older", revision(1)), actor("newer", revision(2)))

// ThreeRevisions are three states of one object.
var ThreeRevisions = program("three_revisions", TwoRevisions.Law, nil,
	actor("one", revision(1)), actor("two", revision(2)), actor("three", revision(3)))

// ThreeCopies are one event, delivered three times at once.
var ThreeCopies = program("three_copies", TwoCopies.Law, nil,
	actor("one", paid), actor("two", paid), actor("three", paid))

// TwoCopiesAndARevision mixes both.
var TwoCopiesAndARevision = program("two_copies_and_a_revision", TwoCopies.Law, nil,
	actor("first", revision(1)), actor("retry", revision(1)), actor("newer", revision(2)))

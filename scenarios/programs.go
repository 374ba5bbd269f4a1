package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"webhooklab/lab"
)

// Programs are situations without an order: exploration runs them in all. They name no command
// and no table, so that the same list finds the faults of any receiver.

// actor is a session that hands over these deliveries, one after the other.
func actor(name string, deliveries ...lab.Delivery) lab.Actor {
	a := lab.Actor{Name: name}
	for _, d := range deliveries {
		a.Does = append(a.Does, lab.Delivers(d))
	}
	return a
}

// does is a session that does something else than receive.
func does(name string, acts ...lab.Act) lab.Actor { return lab.Actor{Name: name, Does: acts} }

// with gives a session's connections a setting of their own.
func with(a lab.Actor, settings ...lab.Setting) lab.Actor {
	a.Settings = settings
	return a
}

// before hands events over before the sessions begin, and demands that they are acknowledged.
func before(deliveries ...lab.Delivery) func(*lab.Lab) {
	return func(l *lab.Lab) {
		for _, d := range deliveries {
			l.Session("before").Send(d)
		}
	}
}

// variant is a delivery with something changed.
func variant(d lab.Delivery, change func(*lab.Delivery)) lab.Delivery {
	change(&d)
	return d
}

// ProgramNamed finds a program and its suite.
func ProgramNamed(name string) (Suite, lab.Program, error) {
	var names []string
	for _, suite := range Suites {
		for _, p := range slices.Concat(suite.Programs, suite.Swept) {
			if p.Name == name {
				return suite, p, nil
			}
			names = append(names, p.Name)
		}
	}
	return Suite{}, lab.Program{}, fmt.Errorf("there is no program %q: want one of %s",
		name, strings.Join(names, ", "))
}

// SuiteNamed finds a suite.
func SuiteNamed(name string) (Suite, error) {
	var names []string
	for _, suite := range Suites {
		if suite.Name == name {
			return suite, nil
		}
		names = append(names, suite.Name)
	}
	return Suite{}, fmt.Errorf("there is no receiver %q: want one of %s",
		name, strings.Join(names, ", "))
}

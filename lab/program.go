package lab

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"webhooklab/lab/postgres"
)

// A Program is what exploration and sweep run in every order and with every cut: a set of sessions,
// each with what it does one after the other, and what must come of it in whatever order.
type Program struct {
	Name string
	Law  string // the promise on trial, in words

	Before   func(l *Lab) // what has happened already, unstepped
	Sessions []Actor
	After    func(l *Lab) // what the world does afterwards, unstepped: workers drain, leases expire

	// Answers are the answers that some order may give: the outcomes of all acts, session by
	// session, joined by spaces. Nil: any answer will do that is not Unknown.
	Answers []string

	// Retried says that a sender which was told nothing sends again, so that Unknown is no offence.
	Retried bool

	NoWaits bool // nobody may wait for another

	Reference bool // it touches the tables of schema.sql by name
	Needs     []postgres.Ability
}

// An Actor is one session of a program.
type Actor struct {
	Name     string
	Does     []Act
	Settings []Setting
}

// An Act is one thing that a session does: a delivery, or work of another kind.
type Act struct {
	what     string
	delivery *Delivery
	sql      []string
	do       func(context.Context, Receiver) (Answer, error)
	with     func(l *Lab) func(context.Context, Receiver) (Answer, error)
}

// Delivers is the act of handing one event over.
func Delivers(d Delivery) Act { return Act{what: "deliver " + d.titled(), delivery: &d} }

// Does is any other act of a receiver: work, recover, send.
func Does(what string, op func(context.Context, Receiver) (Answer, error)) Act {
	return Act{what: what, do: op}
}

// DoesWith is Does for an act that needs the run's own names: op is asked for at its beginning.
func DoesWith(
	what string, op func(l *Lab) func(context.Context, Receiver) (Answer, error),
) Act {
	return Act{what: what, with: op}
}

// RunsSQL is what a person or another program does beside the receiver: one command a string.
// In its text, {shop} stands for the fresh name of the source shop.
func RunsSQL(sql ...string) Act {
	return Act{what: "run SQL", sql: sql}
}

// String is the act as transcripts show it.
func (a Act) String() string { return a.what }

// Delivery is the event that the act hands over, nil when it does something else.
func (a Act) Delivery() *Delivery { return a.delivery }

// Only is the program with these acts left: "first.1" is the first act of the session first.
// Sessions without an act are left out. It fails when a name fits nothing.
func (p Program) Only(acts []string) (Program, error) {
	kept := p
	kept.Sessions = nil
	var names []string
	for _, a := range p.Sessions {
		var does []Act
		for i, act := range a.Does {
			if name := actName(a, i); slices.Contains(acts, name) {
				does, names = append(does, act), append(names, name)
			}
		}
		if len(does) > 0 {
			a.Does = does
			kept.Sessions = append(kept.Sessions, a)
		}
	}
	if len(names) != len(acts) || len(names) == 0 {
		return p, fmt.Errorf("lab: program %s has not all of the acts %s; it has %s",
			p.Name, strings.Join(acts, ","), strings.Join(p.acts(), ","))
	}
	if len(names) < len(p.acts()) {
		kept.Name = p.Name + "[" + strings.Join(names, ",") + "]"
		kept.Answers = nil // they were said of the whole
	}
	return kept, nil
}

// acts names every act of the program.
func (p Program) acts() (names []string) {
	for _, a := range p.Sessions {
		for i := range a.Does {
			names = append(names, actName(a, i))
		}
	}
	return names
}

func actName(a Actor, i int) string { return fmt.Sprintf("%s.%d", a.Name, i+1) }

// titled is the delivery with its source, as transcripts show it.
func (d Delivery) titled() string {
	if d.Source == "" {
		return d.String()
	}
	return d.Source + " " + d.String()
}

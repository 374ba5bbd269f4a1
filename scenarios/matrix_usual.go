package scenarios

import (
	"context"
	"fmt"

	"webhooklab/lab"
)

// What most people test: a copy after its first, and copies at once without any step.

// A usual test is what somebody writes for a suite's contract who knows the usual advice. Each run
// has an event of its own, as in a database that is emptied in between.
type usual struct {
	event  lab.Delivery
	before func(*lab.Lab, lab.Delivery)
	act    func(*lab.Session, lab.Delivery) *lab.Session // done twice in turn, and by three at once
	first  lab.Answer                                    // of the first
	again  lab.Answer                                    // of its copy
	after  func(*lab.Lab)
}

// usualTests by the suite's name. Of an outbox it is the dispatcher that runs twice.
func usualTests() map[string]usual {
	return map[string]usual{
		SnapshotSuite.Name: {event: paid, first: lab.Applied, again: lab.Duplicate},
		DoorSuite.Name:     {event: paid, first: lab.Applied, again: lab.Duplicate},
		EmailSuite.Name: {event: email("delivered"), first: advanced, again: lab.Duplicate,
			before: func(l *lab.Lab, _ lab.Delivery) { addedBefore(l) }},
		AtomicSuite.Name: {event: order("evt", "paid"), first: processed, again: lab.Duplicate},
		LeasedSuite.Name: {event: order("evt", "paid"), first: accepted, again: lab.Duplicate,
			after: workedTogether},
		OutboxSuite.Name: {event: order("evt", "paid"), first: sent, again: idle, after: posted,
			before: func(l *lab.Lab, d lab.Delivery) { l.Session("before").Send(d) },
			act:    func(s *lab.Session, _ lab.Delivery) *lab.Session { return posts(s) }},
	}
}

// usually is the suite's test, for one run of it.
func (t *trial) usually(run int) usual {
	u := usualTests()[t.suite.Name]
	u.event.EventID = fmt.Sprintf("%s_%d", u.event.EventID, run)
	if u.event.Revision > 0 {
		u.event.ObjectID = fmt.Sprintf("%s_%d", u.event.ObjectID, run)
	}
	if u.act == nil {
		u.act = (*lab.Session).Deliver
	}
	return u
}

func (u usual) begin(l *lab.Lab) {
	if u.before != nil {
		u.before(l, u.event)
	}
}

func (u usual) end(l *lab.Lab) {
	if u.after != nil {
		u.after(l)
	}
}

// inTurn sends one and then its copy.
func (t *trial) inTurn(ctx context.Context, h *hearing) {
	u := t.usually(0)
	h.hears(played(t.watched.Run(ctx, lab.Scenario{
		Name: "two_copies_in_turn", Law: "a copy changes nothing, and is answered as one",
		Play: func(l *lab.Lab) {
			u.begin(l)
			sender := l.Session("sender")
			l.Same("the first answer", u.first.Outcome, u.act(sender, u.event).Ends().Outcome)
			l.Same("the answer of its copy", u.again.Outcome, u.act(sender, u.event).Ends().Outcome)
			u.end(l)
		},
	}), 1))
}

// inLoops lets three go at once, 30 times.
func (t *trial) inLoops(ctx context.Context, h *hearing) {
	loops := 30
	if t.want.Short {
		loops = 10
	}
	for run := range loops {
		if ctx.Err() != nil || h.hears(played(t.watched.Run(ctx, t.atOnce(run+1)), 1)) {
			return
		}
	}
}

func (t *trial) atOnce(run int) lab.Scenario {
	u := t.usually(run)
	return lab.Scenario{
		Name: "copies_in_loops", Law: "of copies at once each has an answer", Free: true,
		Play: func(l *lab.Lab) {
			u.begin(l)
			copies := l.Sessions("copy", 3)
			for _, c := range copies {
				u.act(c, u.event)
			}
			l.ReleaseTogether(copies...)
			l.Equal("copies without an answer", 0, l.Tally(copies...)[lab.Unknown.Outcome])
			u.end(l)
		},
	}
}

// workedTogether has two workers at once take what there is, and drains the rest.
func workedTogether(l *lab.Lab) {
	workers := l.Sessions("worker", 2)
	for _, w := range workers {
		works(w)
	}
	l.ReleaseTogether(workers...)
	l.Tally(workers...)
	drained(l)
}

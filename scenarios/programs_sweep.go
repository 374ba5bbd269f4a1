package scenarios

import "webhooklab/lab"

// What is swept are single steps, each cut at every command, and pairs, of which one is cut at every
// command while the other stands at every one of its own.

const (
	anywhere   = "wherever it is cut, one event makes one change, and its sender has an answer in the end"
	pairwise   = "wherever one of two is cut, the other is not harmed"
	mailedOnce = "wherever it is cut, a message is sent, and has one effect"
)

// once is a program of one act.
func once(name, law string, before func(*lab.Lab), act lab.Act, after func(*lab.Lab)) lab.Program {
	return lab.Program{Name: name, Law: law, Before: before, After: after,
		Sessions: []lab.Actor{does("sender", act)}}
}

// hands is once for a delivery after others.
func hands(name string, d lab.Delivery, earlier ...lab.Delivery) lab.Program {
	p := once(name, anywhere, nil, lab.Delivers(d), nil)
	if earlier != nil {
		p.Before = before(earlier...)
	}
	return p
}

var sweptSnapshots = []lab.Program{
	hands("new_event", revision(2)),
	hands("next_event", revision(2), revision(1)),
	hands("stale_event", revision(1), revision(2)),
	hands("copied_event", revision(1), revision(1)),
	pairOf("two_copies_cut", paid, paid),
	pairOf("two_revisions_cut", revision(1), revision(2)),
}

// pairOf are two deliveries at once.
func pairOf(name string, first, second lab.Delivery) lab.Program {
	return lab.Program{Name: name, Law: pairwise,
		Sessions: []lab.Actor{actor("first", first), actor("second", second)}}
}

var sweptEmails = []lab.Program{
	once("new_email", anywhere, addedBefore, lab.Delivers(email("delivered")), nil),
	once("early_email", anywhere, nil, lab.Delivers(email("delivered")), addedBefore),
	once("new_message", anywhere, before(email("delivered")), addsMessage, nil),
	once("correction", anywhere, func(l *lab.Lab) {
		addedBefore(l)
		before(email("bounced"))(l)
	}, voids("bounced"), nil),
	pairOf("two_emails_cut", email("deferred"), email("bounced")),
}

var sweptAtomic = []lab.Program{
	hands("processed_event", order("evt", "paid")),
	hands("copied_order", order("evt", "paid"), order("evt", "paid")),
	once("failing_change", anywhere, storm, lab.Delivers(order("evt", "flaky")), calm),
	hands("rejected_event", order("evt", "unpayable")),
	pairOf("two_orders_cut", order("evt", "paid"), order("evt", "paid")),
}

var sweptLeased = []lab.Program{
	once("intake", anywhere, nil, lab.Delivers(order("evt", "paid")), drained),
	once("work", anywhere, before(order("evt", "paid")), worksOnce, drained),
	once("failing_work", anywhere, func(l *lab.Lab) {
		storm(l)
		before(order("evt", "flaky"))(l)
	}, worksOnce, func(l *lab.Lab) {
		calm(l)
		drained(l)
	}),
	once("recovery", anywhere, func(l *lab.Lab) {
		before(order("evt", "paid"))(l)
		l.Session("dead").Does("claim", clerk(Clerk.Claim))
		expire(l)
	}, recoversOnce, drained),
}

var sweptOutbox = []lab.Program{
	once("enqueue", anywhere, nil, lab.Delivers(order("evt", "paid")), posted),
	once("dispatch", mailedOnce, before(order("evt", "paid")), dispatchesOnce, posted),
}

var sweptDoor = []lab.Program{
	hands("door_new_event", revision(1)),
	hands("door_copied_event", revision(1), revision(1)),
}

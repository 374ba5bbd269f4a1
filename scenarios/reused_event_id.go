package scenarios

import "webhooklab/lab"

const oneContent = "an event id stands for one content: the second is refused and leaves no trace"

// The same event id comes back and speaks of another object.
var ReusedEventIDOtherObject = reused("reused_event_id_other_object", func(d *lab.Delivery) {
	d.ObjectID = "another order"
})

// The same event id comes back with another revision.
var ReusedEventIDOtherRevision = reused("reused_event_id_other_revision", func(d *lab.Delivery) {
	d.Revision = 2
})

// The same event id comes back with another snapshot.
var ReusedEventIDOtherSnapshot = reused("reused_event_id_other_snapshot", func(d *lab.Delivery) {
	d.Snapshot = []byte(`{"value": false}`)
})

func reused(name string, change func(*lab.Delivery)) lab.Scenario {
	changed := paid
	change(&changed)
	return lab.Scenario{
		Name: name,
		Law:  oneContent,
		Play: func(l *lab.Lab) {
			sender := l.Session("sender")

			sender.Deliver(paid).Answers(lab.Applied)
			sender.Deliver(changed).Answers(lab.ReusedEventID)
			sender.Deliver(changed).Answers(lab.ReusedEventID)

			l.Refused(1)
			sender.Deliver(paid).Answers(lab.Duplicate)
		},
	}
}

// Two contents under one event id are in flight at once. The second waits and must then look with
// a new snapshot: its own statement can't see what it waited for.
var ReusedEventIDInFlight = lab.Scenario{
	Name:       "reused_event_id_in_flight",
	Law:        oneContent,
	Concurrent: true,
	Play: func(l *lab.Lab) {
		changed := paid
		changed.Snapshot = []byte(`{"value": false}`)
		first, second := l.Session("first"), l.Session("second")

		first.Deliver(paid).HoldBefore("COMMIT")
		second.Deliver(changed).BlockedBy(first)
		first.Release()

		first.Answers(lab.Applied)
		second.Answers(lab.ReusedEventID)
		l.Refused(1)
	},
}

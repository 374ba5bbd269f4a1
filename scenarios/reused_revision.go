package scenarios

import "webhooklab/lab"

const oneEvent = "a revision belongs to one event: a second event for it is refused without a trace"

// A second event claims a revision that is taken.
var ReusedRevision = lab.Scenario{
	Name: "reused_revision",
	Law:  oneEvent,
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")

		sender.Deliver(paid).Answers(lab.Applied)
		sender.Deliver(rival(`{"value": false}`)).Answers(lab.ReusedRevision)
		l.Refused(1)
	},
}

// The second event says the very same: still two events for one revision.
var ReusedRevisionSameSnapshot = lab.Scenario{
	Name: "reused_revision_same_snapshot",
	Law:  oneEvent,
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")

		sender.Deliver(paid).Answers(lab.Applied)
		sender.Deliver(rival(`{"value": true}`)).Answers(lab.ReusedRevision)
	},
}

// Both events are in flight. A conflict clause that names only the event id as its target would
// let the second run into the other constraint.
var ReusedRevisionInFlight = lab.Scenario{
	Name:       "reused_revision_in_flight",
	Law:        oneEvent,
	Concurrent: true,
	Play: func(l *lab.Lab) {
		first, second := l.Session("first"), l.Session("second")

		first.Deliver(paid).HoldBefore("COMMIT")
		second.Deliver(rival(`{"value": false}`)).BlockedBy(first)
		first.Release()

		first.Answers(lab.Applied)
		second.Answers(lab.ReusedRevision)
		l.Refused(1)
	},
}

func rival(snapshot string) lab.Delivery {
	d := paid
	d.EventID, d.Snapshot = "evt_rival", []byte(snapshot)
	return d
}

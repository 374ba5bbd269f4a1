package scenarios

import "webhooklab/lab"

const oneContent = "an event id stands for one content: the second is refused and leaves no trace"

// The same event id comes back and speaks of another object.
var ReusedEventIDOtherObject = reused("reused_event_id_other_object", otherObject)

// The same event id comes back with another revision.
var ReusedEventIDOtherRevision = reused("reused_event_id_other_revision", otherRevision)

// The same event id comes back with another snapshot.
var ReusedEventIDOtherSnapshot = reused("reused_event_id_other_snapshot", otherSnapshot)

func otherObject(d *lab.Delivery)   { d.ObjectID = "another order" }
func otherRevision(d *lab.Delivery) { d.Revision = 2 }
func otherSnapshot(d *lab.Delivery) { d.Snapshot = []byte(`{"value": false}`) }

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
var (
	ReusedEventIDObjectInFlight   = reusedInFlight("reused_event_id_object_in_flight", otherObject)
	ReusedEventIDRevisionInFlight = reusedInFlight(
		"reused_event_id_revision_in_flight", otherRevision)
	ReusedEventIDSnapshotInFlight = reusedInFlight(
		"reused_event_id_snapshot_in_flight", otherSnapshot)
)

func reusedInFlight(name string, change func(*lab.Delivery)) lab.Scenario {
	changed := paid
	change(&changed)
	return lab.Scenario{
		Name:       name,
		Law:        oneContent,
		Concurrent: true,
		Play: func(l *lab.Lab) {
			first, second := l.Session("first"), l.Session("second")

			first.Deliver(paid).HoldBefore("COMMIT")
			second.Deliver(changed).BlockedBy(first)
			first.Release()

			first.Answers(lab.Applied)
			second.Answers(lab.ReusedEventID)
			l.Refused(1)
		},
	}
}

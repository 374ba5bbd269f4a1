package scenarios

import (
	"webhooklab/lab"
	"webhooklab/toxiproxy"
)

// The sender saw no answer and sends the event again.
var AtomicSameEventTwice = lab.Scenario{
	Name: "atomic_same_event_twice",
	Law:  "one event makes one business change, however often it is delivered",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")

		sender.Deliver(order("evt", "paid")).Answers(processed)
		sender.Deliver(order("evt", "paid")).Answers(lab.Duplicate)

		l.Shows(1, "effects")
		l.Shows(2, "deliveries")
	},
}

// A copy arrives while the first is between its change and its COMMIT.
var AtomicCopyInFlight = lab.Scenario{
	Name:       "atomic_copy_in_flight",
	Law:        "a copy waits for the transaction that holds its receipt, then sees the result",
	Concurrent: true,
	Play: func(l *lab.Lab) {
		first, retry := l.Session("first"), l.Session("retry")

		first.Deliver(order("evt", "paid")).HoldBefore("COMMIT")
		retry.Deliver(order("evt", "paid")).BlockedBy(first)
		first.Release()

		first.Answers(processed)
		retry.Answers(lab.Duplicate)
		l.Shows(1, "effects")
	},
}

// The first dies instead: nothing was done, so the copy must do it.
var AtomicCopyAfterRollback = lab.Scenario{
	Name:       "atomic_copy_after_rollback",
	Law:        "a copy that waited for an attempt that died makes the change itself",
	Concurrent: true,
	Play: func(l *lab.Lab) {
		first, retry := l.Session("first"), l.Session("retry")

		first.Deliver(order("evt", "paid")).HoldBefore("COMMIT")
		retry.Deliver(order("evt", "paid")).BlockedBy(first)
		first.LoseRequest(toxiproxy.RST)

		first.Answers(lab.Unknown)
		retry.Answers(processed)
		l.Shows(1, "effects")
	},
}

// Eight copies run freely.
var AtomicReleasedTogether = lab.Scenario{
	Name:       "atomic_released_together",
	Law:        "of copies that run freely one makes the change and every other is a duplicate",
	Concurrent: true,
	Free:       true,
	Play: func(l *lab.Lab) {
		copies := l.Sessions("copy", 8)

		for _, c := range copies {
			c.Deliver(order("evt", "paid"))
		}
		l.ReleaseTogether(copies...)

		got := l.Tally(copies...)
		l.Equal("processed", 1, got["processed"])
		l.Equal("duplicate", 7, got["duplicate"])
		l.Shows(1, "effects")
	},
}

// The id comes back with another type.
var AtomicReusedEventID = lab.Scenario{
	Name: "atomic_reused_event_id",
	Law:  "an event id stands for one type and payload: the second is refused",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")

		sender.Deliver(order("evt", "paid")).Answers(processed)
		sender.Deliver(order("evt", "refunded")).Answers(lab.ReusedEventID)
		sender.Deliver(order("evt", "refunded")).Answers(lab.ReusedEventID)

		l.Refused(1)
		l.Shows(1, "effects")
	},
}

// Both contents are in flight at once.
var AtomicReusedEventIDInFlight = lab.Scenario{
	Name:       "atomic_reused_event_id_in_flight",
	Law:        "an event id stands for one type and payload: the second waits and is refused",
	Concurrent: true,
	Play: func(l *lab.Lab) {
		first, second := l.Session("first"), l.Session("second")
		changed := order("evt", "paid")
		changed.Payload = []byte(`{"order": 8}`)

		first.Deliver(order("evt", "paid")).HoldBefore("COMMIT")
		second.Deliver(changed).BlockedBy(first)
		first.Release()

		first.Answers(processed)
		second.Answers(lab.ReusedEventID)
		l.Shows(1, "effects")
	},
}

// An authenticated sender delivers what breaks the shape.
var AtomicInvalid = lab.Scenario{
	Name: "atomic_invalid",
	Law:  "a delivery that breaks the shape is refused, and counted as that",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")
		broken := order("evt", "paid")
		broken.Payload = []byte(`{"a": "\u0000"}`)

		sender.Deliver(broken).Answers(lab.Invalid)
		sender.Deliver(order("", "paid")).Answers(lab.Invalid)

		l.Shows(0, "receipts")
		l.Shows(2, "deliveries")
		sender.Deliver(order("evt", "paid")).Answers(processed)
	},
}

package scenarios

import (
	"webhooklab/lab"
	"webhooklab/toxiproxy"
)

// A delivery is stored and acknowledged; a worker processes it later.
var LeasedAcceptedThenProcessed = lab.Scenario{
	Name: "leased_accepted_then_processed",
	Law:  "what was accepted is durable before it is acknowledged, and processed once",
	Play: func(l *lab.Lab) {
		sender, worker := l.Session("sender"), l.Session("worker")

		sender.Deliver(order("evt", "paid")).Answers(accepted)
		sender.Deliver(order("evt", "paid")).Answers(lab.Duplicate)
		l.Shows(0, "effects")

		works(worker).Answers(processed)
		works(worker).Answers(idle)
		sender.Deliver(order("evt", "paid")).Answers(lab.Duplicate)
		l.Shows(1, "effects")
	},
}

// Two copies are in flight.
var LeasedCopyInFlight = lab.Scenario{
	Name:       "leased_copy_in_flight",
	Law:        "of two copies one is accepted, the other waits and is a duplicate",
	Concurrent: true,
	Play: func(l *lab.Lab) {
		first, retry := l.Session("first"), l.Session("retry")

		first.Deliver(order("evt", "paid")).HoldBefore("COMMIT")
		retry.Deliver(order("evt", "paid")).BlockedBy(first)
		first.Release()

		first.Answers(accepted)
		retry.Answers(lab.Duplicate)
		works(first).Answers(processed)
		works(first).Answers(idle)
	},
}

// The id comes back with another type, whatever has become of the first.
var LeasedReusedEventID = lab.Scenario{
	Name: "leased_reused_event_id",
	Law:  "an event id stands for one type and payload, before and after it is processed",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")

		sender.Deliver(order("evt", "paid")).Answers(accepted)
		sender.Deliver(order("evt", "refunded")).Answers(lab.ReusedEventID)
		works(sender).Answers(processed)
		sender.Deliver(order("evt", "refunded")).Answers(lab.ReusedEventID)

		l.Refused(1)
	},
}

// The acknowledgement of the intake is lost, and a worker is faster than the retry.
var LeasedIntakeAckLost = lab.Scenario{
	Name: "leased_intake_ack_lost",
	Law:  "an accepted event whose acknowledgement was lost is processed once",
	Play: func(l *lab.Lab) {
		sender, worker := l.Session("sender"), l.Session("worker")

		sender.Deliver(order("evt", "paid")).HoldBefore("COMMIT")
		sender.LoseAck(toxiproxy.FIN)
		sender.Answers(lab.Unknown)
		works(worker).Answers(processed)

		worker.Deliver(order("evt", "paid")).Answers(lab.Duplicate)
		works(worker).Answers(idle)
		l.Shows(1, "effects")
	},
}

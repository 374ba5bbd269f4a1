package scenarios

import (
	"webhooklab/lab"
	"webhooklab/toxiproxy"
)

// The provider sends an event again while its first copy is in flight.
var EmailSameEventInFlight = lab.Scenario{
	Name:       "email_same_event_in_flight",
	Law:        "a copy of an email event waits for the first and changes nothing",
	Concurrent: true,
	Play: func(l *lab.Lab) {
		first, retry := l.Session("first"), l.Session("retry")
		added(first, l).Answers(lab.Done)

		first.Deliver(email("delivered")).HoldBefore("COMMIT")
		retry.Deliver(email("delivered")).BlockedBy(first)
		first.Release()

		first.Answers(advanced)
		retry.Answers(lab.Duplicate)
	},
}

// An event id comes back and says something else.
var EmailReusedEventID = lab.Scenario{
	Name: "email_reused_event_id",
	Law:  "an email event id stands for one content",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")
		added(sender, l).Answers(lab.Done)
		changed := email("delivered")
		changed.Type = "bounced"

		sender.Deliver(email("delivered")).Answers(advanced)
		sender.Deliver(changed).Answers(lab.ReusedEventID)
		sender.Deliver(email("delivered")).Answers(lab.Duplicate)
	},
}

// The acknowledgement of the COMMIT is lost.
var EmailCommitAckLost = lab.Scenario{
	Name: "email_commit_ack_lost",
	Law:  "an email event whose acknowledgement was lost is kept once: the retry is a duplicate",
	Play: func(l *lab.Lab) {
		sender, retry := l.Session("sender"), l.Session("retry")
		added(sender, l).Answers(lab.Done)

		sender.Deliver(email("delivered")).HoldBefore("COMMIT")
		sender.LoseAck(toxiproxy.RST)
		sender.Answers(lab.Unknown)

		retry.Deliver(email("delivered")).Answers(lab.Duplicate)
	},
}

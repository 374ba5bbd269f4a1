package scenarios

import "webhooklab/lab"

// A bounce was reported in error, and the provider says so afterwards.
var EmailCorrectedAfterwards = lab.Scenario{
	Name: "email_corrected_afterwards",
	Law:  "a correction is an event of its own: what remains of the history decides",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")
		added(sender, l).Answers(lab.Done)
		sender.Deliver(email("delivered")).Answers(advanced)
		sender.Deliver(email("bounced")).Answers(advanced)

		voided(sender, l, "bounced").Answers(corrected)
		voided(sender, l, "bounced").Answers(lab.Duplicate)

		sender.Deliver(email("bounced")).Answers(lab.Duplicate)
	},
}

// The correction overtakes the event that it corrects.
var EmailCorrectedBeforehand = lab.Scenario{
	Name: "email_corrected_beforehand",
	Law:  "a correction that comes before its event is kept and holds when the event comes",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")
		added(sender, l).Answers(lab.Done)
		sender.Deliver(email("delivered")).Answers(advanced)

		voided(sender, l, "bounced").Answers(held)
		sender.Deliver(email("bounced")).Answers(unchanged)
	},
}

// Event and correction are in flight at once: neither may miss the other.
var EmailCorrectedInFlight = lab.Scenario{
	Name:       "email_corrected_in_flight",
	Law:        "a correction waits for the event that it voids, and then voids it",
	Concurrent: true,
	Play: func(l *lab.Lab) {
		sender, ops := l.Session("sender"), l.Session("ops")
		added(sender, l).Answers(lab.Done)
		sender.Deliver(email("delivered")).Answers(advanced)

		sender.Deliver(email("bounced")).HoldBefore("COMMIT")
		voided(ops, l, "bounced").BlockedBy(sender)
		sender.Release()

		sender.Answers(advanced)
		ops.Answers(corrected)
	},
}

package scenarios

import "webhooklab/lab"

// The sender saw no answer and sends the event again, after the first attempt has ended.
var ExactRetry = lab.Scenario{
	Name: "exact_retry",
	Law:  "a retry of an accepted event is acknowledged and changes nothing",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")

		sender.Deliver(paid).Answers(lab.Applied)
		sender.Deliver(paid).Answers(lab.Duplicate)
		sender.Deliver(paid).Answers(lab.Duplicate)
	},
}

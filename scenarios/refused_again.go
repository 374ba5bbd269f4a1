package scenarios

import "webhooklab/lab"

// A sender takes a conflict for an outage and insists.
var RefusedAgain = lab.Scenario{
	Name: "refused_again",
	Law:  "a sender that insists adds no rows: its refusal is one, and counted",
	Play: func(l *lab.Lab) {
		changed := paid
		changed.Snapshot = []byte(`{"value": "changed"}`)
		sender := l.Session("sender")
		sender.Deliver(paid).Answers(lab.Applied)

		for range 3 {
			sender.Deliver(changed).Answers(lab.ReusedEventID)
		}

		l.Shows(1, "refusals")
		l.Rows(1, `SELECT FROM webhook_refusal
 WHERE source = '`+l.Source("shop")+`' AND deliveries = 3`)
	},
	Reference: true,
}

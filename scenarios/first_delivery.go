package scenarios

import "webhooklab/lab"

// An event arrives for the first time.
var FirstDelivery = lab.Scenario{
	Name: "first_delivery",
	Law:  "a new event is accepted and becomes the object's state before it is acknowledged",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")

		sender.Deliver(paid).HoldBefore("COMMIT")
		sender.Release()

		sender.Answers(lab.Applied)
	},
}

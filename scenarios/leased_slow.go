package scenarios

import "webhooklab/lab"

// The change takes its time, as it may.
var LeasedSlowChange = lab.Scenario{
	Name: "leased_slow_change",
	Law:  "a change may take as long as its worker gives it: its lease lasts at least that long",
	Play: func(l *lab.Lab) {
		sender, slow, keeper := l.Session("sender"), l.Session("slow"), l.Session("keeper")
		sender.Deliver(order("evt", "paid")).Answers(accepted)

		claims(slow).Answers(claimed)
		completes(slow).HoldBefore("INSERT effect")
		recovers(keeper).Answers(recovered(0))

		slow.Answers(processed)
		l.Shows(1, "effects")
	},
}

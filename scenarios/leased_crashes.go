package scenarios

import (
	"webhooklab/lab"
	"webhooklab/toxiproxy"
)

// The worker dies between its claim and the change.
var LeasedCrashAfterClaim = leasedCrash("leased_crash_after_claim", "INSERT effect")

// The worker dies after the change, before both it and the mark are committed.
var LeasedCrashAfterChange = leasedCrash("leased_crash_after_change", "UPDATE webhook_receipt")

func leasedCrash(name, before string) lab.Scenario {
	return lab.Scenario{
		Name: name,
		Law:  "what a dead worker held returns by itself, its lost attempt counted, no effect left",
		Play: func(l *lab.Lab) {
			sender, first, second := l.Session("sender"), l.Session("first"), l.Session("second")
			sender.Deliver(order("evt", "paid")).Answers(accepted)

			claims(first).Answers(claimed)
			completes(first).HoldBefore(before).Dies()
			works(second).Answers(idle) // the lease still runs
			expire(l)

			recovers(second).Answers(recovered(1))
			due(l)
			works(second).Answers(processed)
			l.Shows(1, "effects")
			l.Rows(1, `SELECT FROM webhook_receipt WHERE attempts = 2`)
		},
	}
}

// Only the connection dies, before the mark: nothing of the attempt is there.
var LeasedConnectionLost = lab.Scenario{
	Name: "leased_connection_lost",
	Law:  "a completion whose connection was lost is rolled back, and made by the next attempt",
	Play: func(l *lab.Lab) {
		sender, worker := l.Session("sender"), l.Session("worker")
		sender.Deliver(order("evt", "paid")).Answers(accepted)

		claims(worker).Answers(claimed)
		completes(worker).HoldBefore("UPDATE webhook_receipt")
		worker.LoseRequest(toxiproxy.FIN)
		worker.Answers(lab.Unknown)
		l.Shows(0, "effects")
		expire(l)

		recovers(worker).Answers(recovered(1))
		due(l)
		works(worker).Answers(processed)
		l.Shows(1, "effects")
	},
}

// The completion is committed, and the worker doesn't hear of it.
var LeasedCompletionAckLost = lab.Scenario{
	Name: "leased_completion_ack_lost",
	Law:  "a completion whose acknowledgement was lost is done: nobody takes the receipt again",
	Play: func(l *lab.Lab) {
		sender, first, second := l.Session("sender"), l.Session("first"), l.Session("second")
		sender.Deliver(order("evt", "paid")).Answers(accepted)

		claims(first).Answers(claimed)
		completes(first).HoldBefore("COMMIT")
		first.LoseAck(toxiproxy.RST)
		first.Answers(lab.Unknown)
		expire(l)

		recovers(second).Answers(recovered(0))
		works(second).Answers(idle)
		l.Shows(1, "effects")
	},
}

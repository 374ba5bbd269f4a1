package scenarios

import "webhooklab/lab"

var beaten = lab.Answer{Outcome: "heartbeat", Acked: true}

// Three workers hold three receipts under the same token: each was claimed once. What one does to
// its own leaves the others theirs, also the one of the same id at another source.
var LeasedLeasesStayApart = lab.Scenario{
	Name: "leased_leases_stay_apart",
	Law:  "what a worker does to its receipt leaves every other worker its own",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")
		first, second, third := l.Session("first"), l.Session("second"), l.Session("third")
		claimThree := func(round, kind string) {
			theirs := order(round+"_1", "paid")
			theirs.Source = "other shop"
			sender.Deliver(order(round+"_1", kind)).Answers(accepted)
			sender.Deliver(order(round+"_2", "paid")).Answers(accepted)
			sender.Deliver(theirs).Answers(accepted)
			claims(first).Answers(claimed)
			claims(second).Answers(claimed)
			claims(third).Answers(claimed)
		}
		for _, round := range []struct {
			name, kind string
			do         func(*lab.Session) *lab.Session
			answer     lab.Answer
		}{
			{"done", "paid", completes, processed},
			{"failed", "paid", fails, failed},
			{"rejected", "unpayable", completes, rejected},
			{"released", "paid", releases, released},
		} {
			claimThree(round.name, round.kind)
			round.do(first).Answers(round.answer)
			completes(second).Answers(processed)
			completes(third).Answers(processed)
		}
		works(first).Answers(processed) // what was released
		claimThree("beaten", "paid")
		expire(l)
		beats(first).Answers(beaten)
		recovers(second).Answers(recovered(2))
	},
}

// The lease expired, the receipt was taken back, and nobody has claimed it yet: the token is still
// the last one.
var LeasedRecoveredIsLost = lab.Scenario{
	Name: "leased_recovered_is_lost",
	Law:  "a worker whose receipt was taken back changes nothing, also before another claims it",
	Play: func(l *lab.Lab) {
		sender, paused, keeper := l.Session("sender"), l.Session("paused"), l.Session("keeper")
		for _, kind := range []string{"paid", "unpayable"} {
			sender.Deliver(order("evt_"+kind, kind)).Answers(accepted)
			claims(paused).Answers(claimed)
			expire(l)
			recovers(keeper).Answers(recovered(1))

			beats(paused).Answers(leaseLost)
			completes(paused).Answers(leaseLost)
			fails(paused).Answers(leaseLost)
			releases(paused).Answers(leaseLost)
		}
		works(keeper).Answers(idle)
		l.Shows(0, "effects")
		l.Rows(2, `SELECT FROM webhook_receipt WHERE status = 'pending' AND attempts = 1`)
	},
}

// What comes after a recovery is no hurry: what killed one worker may kill the next.
var LeasedRecoveredWaits = lab.Scenario{
	Name: "leased_recovered_waits",
	Law:  "a receipt that was lost with its worker waits out a backoff",
	Play: func(l *lab.Lab) {
		sender, dead, worker := l.Session("sender"), l.Session("dead"), l.Session("worker")
		sender.Deliver(order("evt", "paid")).Answers(accepted)
		claims(dead).Answers(claimed)
		expire(l)

		works(worker).Answers(idle)
		due(l)
		works(worker).Answers(processed)
	},
}

// The change of a paused worker would be refused for good.
var LeasedPausedRejection = lab.Scenario{
	Name: "leased_paused_rejection",
	Law:  "a worker that outlived its lease changes nothing, and what it did is rolled back",
	Play: func(l *lab.Lab) {
		sender, paused, other := l.Session("sender"), l.Session("paused"), l.Session("other")
		sender.Deliver(order("evt", "unpayable")).Answers(accepted)
		claims(paused).Answers(claimed)
		expire(l)
		recovers(other).Answers(recovered(1))
		due(l)

		claims(other).Answers(claimed)
		completes(paused).Answers(leaseLost)
		completes(other).Answers(rejected)
	},
}

// A worker is told to stop during the last attempt that a receipt has.
var LeasedReleasedAtLast = lab.Scenario{
	Name: "leased_released_at_last",
	Law:  "a release costs no attempt, not even the last",
	Play: func(l *lab.Lab) {
		sender, worker := l.Session("sender"), l.Session("worker")
		sender.Deliver(order("evt", "flaky")).Answers(accepted)
		storm(l)
		for range 2 {
			works(worker).Answers(failed)
			due(l)
		}
		claims(worker).Answers(claimed)

		releases(worker).Answers(released)
		calm(l)
		works(worker).Answers(processed)
	},
}

package scenarios

import (
	"fmt"

	"webhooklab/lab"
)

// One receipt, two workers. The second neither waits for the first nor takes the same.
var LeasedWorkersShareNothing = lab.Scenario{
	Name:       "leased_workers_share_nothing",
	Law:        "a receipt that one worker is taking is no receipt to another, and nobody waits",
	Concurrent: true,
	Play: func(l *lab.Lab) {
		sender, first, second := l.Session("sender"), l.Session("first"), l.Session("second")
		sender.Deliver(order("evt", "paid")).Answers(accepted)

		claims(first).Release()
		claims(second).NotBlocked().Answers(idle)

		first.Answers(claimed)
		claims(second).Answers(idle)
		completes(first).Answers(processed)
	},
}

// Two receipts, two workers, in the order in which they came.
var LeasedWorkersTakeTheirOwn = lab.Scenario{
	Name:       "leased_workers_take_their_own",
	Law:        "each worker gets a receipt of its own, the older one first",
	Concurrent: true,
	Play: func(l *lab.Lab) {
		sender, first, second := l.Session("sender"), l.Session("first"), l.Session("second")
		sender.Deliver(order("evt_1", "paid")).Answers(accepted)
		sender.Deliver(order("evt_2", "paid")).Answers(accepted)

		claims(first).HoldBefore("COMMIT")
		claims(second).NotBlocked().Answers(claimed)
		completes(second).Answers(processed)
		l.Rows(1, effectOf(l, "evt_2"))

		first.Answers(claimed)
		completes(first).Answers(processed)
		l.Rows(1, effectOf(l, "evt_1"))
	},
}

func effectOf(l *lab.Lab, id string) string {
	return `SELECT FROM effect WHERE source = '` + l.Source("shop") + `' AND event_id = '` + id + `'`
}

// The worker is told to stop and gives back what it holds.
var LeasedReleasedIsNext = lab.Scenario{
	Name: "leased_released_is_next",
	Law:  "a released receipt is the next one claimed, and its attempt stays counted",
	Play: func(l *lab.Lab) {
		sender, first, second := l.Session("sender"), l.Session("first"), l.Session("second")
		sender.Deliver(order("evt_1", "paid")).Answers(accepted)
		claims(first).Answers(claimed)
		sender.Deliver(order("evt_2", "paid")).Answers(accepted)

		releases(first).Answers(released)
		completes(first).Answers(leaseLost)

		works(second).Answers(processed)
		l.Rows(1, effectOf(l, "evt_1"))
		works(second).Answers(processed)
	},
}

// One receipt fails each time, the healthy ones around it don't notice.
var LeasedPoisonAmongHealthy = lab.Scenario{
	Name: "leased_poison_among_healthy",
	Law:  "a poisonous receipt delays no healthy one: they are claimed in their order",
	Play: func(l *lab.Lab) {
		sender, worker := l.Session("sender"), l.Session("worker")
		storm(l)
		for i, kind := range []string{"paid", "flaky", "paid", "flaky", "paid"} {
			sender.Deliver(order(fmt.Sprintf("evt_%d", i+1), kind)).Answers(accepted)
		}

		works(worker).Answers(processed)
		works(worker).Answers(failed)
		works(worker).Answers(processed)
		works(worker).Answers(failed)
		works(worker).Answers(processed)
		works(worker).Answers(idle)

		l.Rows(3, `SELECT FROM (
	SELECT event_id, row_number() OVER (ORDER BY effect_no) AS place
	  FROM effect WHERE source = '`+l.Source("shop")+`') AS done
 WHERE event_id = 'evt_' || 2 * place - 1`)
	},
}

// Eight workers run freely over forty receipts.
var LeasedWorkersReleasedTogether = lab.Scenario{
	Name:       "leased_workers_released_together",
	Law:        "workers that run freely process each receipt once",
	Concurrent: true,
	Free:       true,
	Play: func(l *lab.Lab) {
		const receipts, rounds = 40, 5
		sender, workers := l.Session("sender"), l.Sessions("worker", receipts/rounds)
		for i := range receipts {
			sender.Send(order(fmt.Sprintf("evt_%d", i), "paid"))
		}

		for range rounds {
			for _, w := range workers {
				works(w)
			}
			l.ReleaseTogether(workers...)
			l.Equal("processed", len(workers), l.Tally(workers...)["processed"])
		}
		l.Shows(receipts, "effects")
	},
}

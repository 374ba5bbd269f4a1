package scenarios

import "webhooklab/lab"

// The first attempt failed, and two redeliveries come at once. Both see that it failed before either
// takes it.
var AtomicRedeliveryInFlight = lab.Scenario{
	Name:       "atomic_redelivery_in_flight",
	Law:        "of two redeliveries of a failed event one makes the change, the other none",
	Concurrent: true,
	Play: func(l *lab.Lab) {
		first, second := l.Session("first"), l.Session("second")
		storm(l)
		first.Deliver(order("evt", "flaky")).Answers(lab.Unknown)
		calm(l)

		first.Deliver(order("evt", "flaky")).HoldBefore("UPDATE webhook_receipt")
		second.Deliver(order("evt", "flaky")).HoldBefore("COMMIT")
		first.BlockedBy(second)
		second.Release()

		second.Answers(processed)
		first.Answers(lab.Duplicate)
		l.Shows(1, "effects")
	},
}

// Receipts of every status stand side by side, also under the same id at another source. What is
// done to one is done to no other.
var AtomicReceiptsStayApart = lab.Scenario{
	Name: "atomic_receipts_stay_apart",
	Law:  "what becomes of one receipt leaves every other as it was",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")
		shop, other := l.Source("shop"), l.Source("other shop")
		theirs := func(id, kind string) lab.Delivery {
			d := order(id, kind)
			d.Source = "other shop"
			return d
		}
		l.SQL(`INSERT INTO weather VALUES ('` + shop + `'), ('` + other + `')`)
		for _, id := range []string{"evt_1", "evt_2"} {
			sender.Deliver(order(id, "flaky")).Answers(lab.Unknown)
			sender.Deliver(theirs(id, "flaky")).Answers(lab.Unknown)
		}
		l.SQL(`DELETE FROM weather WHERE source = '` + shop + `'`)

		sender.Deliver(order("evt_2", "flaky")).Answers(processed)
		l.Rows(3, `SELECT FROM webhook_receipt WHERE source IN ('`+shop+`', '`+other+`')
   AND status = 'failed' AND attempts = 1`)
		sender.Deliver(theirs("evt_3", "paid")).Answers(processed)
		sender.Deliver(order("evt_3", "unpayable")).Answers(rejected)
		sender.Deliver(theirs("evt_2", "flaky")).Answers(lab.Unknown)

		l.Rows(2, `SELECT FROM webhook_receipt WHERE source = '`+shop+`'
   AND (event_id, status) IN (('evt_2', 'processed'), ('evt_3', 'rejected'))`)
		l.Rows(2, `SELECT FROM webhook_receipt WHERE source = '`+other+`'
   AND (event_id, status, attempts) IN (('evt_2', 'failed', 2), ('evt_3', 'processed', 1))`)
		sender.Deliver(order("evt_2", "flaky")).Answers(lab.Duplicate)
		sender.Deliver(order("evt_3", "unpayable")).Answers(lab.Duplicate)
	},
}

package scenarios

import (
	"context"

	"webhooklab/lab"
)

// The change fails for a passing reason.
var LeasedFailureIsRetried = lab.Scenario{
	Name: "leased_failure_is_retried",
	Law:  "a failed attempt leaves no effect, waits out its backoff, and is tried again",
	Play: func(l *lab.Lab) {
		sender, worker := l.Session("sender"), l.Session("worker")
		sender.Deliver(order("evt", "flaky")).Answers(accepted)

		storm(l)
		works(worker).Answers(failed)
		l.Shows(0, "effects")
		works(worker).Answers(idle)

		calm(l)
		due(l)
		works(worker).Answers(processed)
		l.Shows(1, "effects")
	},
}

// The change says that no retry can help.
var LeasedPermanentFailure = lab.Scenario{
	Name: "leased_permanent_failure",
	Law:  "a permanent failure is never tried again, and its copies are acknowledged",
	Play: func(l *lab.Lab) {
		sender, worker := l.Session("sender"), l.Session("worker")
		sender.Deliver(order("evt", "unpayable")).Answers(accepted)

		works(worker).Answers(rejected)
		due(l)
		works(worker).Answers(idle)
		sender.Deliver(order("evt", "unpayable")).Answers(lab.Duplicate)
	},
}

// It fails as often as it may.
var LeasedDeadAfterLastAttempt = lab.Scenario{
	Name: "leased_dead_after_last_attempt",
	Law:  "attempts are bounded: after the last one the receipt is dead, with its reason",
	Play: func(l *lab.Lab) {
		sender, worker := l.Session("sender"), l.Session("worker")
		sender.Deliver(order("evt", "flaky")).Answers(accepted)
		storm(l)

		works(worker).Answers(failed)
		due(l)
		works(worker).Answers(failed)
		due(l)
		works(worker).Answers(dead)

		due(l)
		works(worker).Answers(idle)
		sender.Deliver(order("evt", "flaky")).Answers(lab.Duplicate)
	},
}

// An operator mends the cause and puts the dead receipt back.
var LeasedRequeued = lab.Scenario{
	Name: "leased_requeued",
	Law:  "a dead receipt is requeued by name and reason, and then processed once",
	Play: func(l *lab.Lab) {
		sender, worker := l.Session("sender"), l.Session("worker")
		sender.Deliver(order("evt", "flaky")).Answers(accepted)
		storm(l)
		for range 3 {
			works(worker)
			worker.Ends()
			due(l)
		}
		requeues(worker, l).Answers(requeued)
		calm(l)

		works(worker).Answers(processed)
		requeues(worker, l).Answers(lab.Invalid)
		l.Rows(1, `SELECT FROM receipt_transition
 WHERE source = '`+l.Source("shop")+`' AND from_status = 'dead' AND actor = 'ann'`)
	},
}

// An operator mistakes a receipt that waits for a dead one.
var LeasedRequeuedAlive = lab.Scenario{
	Name: "leased_requeued_alive",
	Law:  "only what is dead is requeued",
	Play: func(l *lab.Lab) {
		sender, worker := l.Session("sender"), l.Session("worker")
		sender.Deliver(order("evt", "paid")).Answers(accepted)

		requeues(worker, l).Answers(lab.Invalid)
		works(worker).Answers(processed)
		requeues(worker, l).Answers(lab.Invalid)
		l.Shows(1, "effects")
	},
}

// Three receipts are dead, each like the one that is requeued in all but one part of its name.
var LeasedRequeuedAlone = lab.Scenario{
	Name: "leased_requeued_alone",
	Law:  "a receipt is requeued by its whole name, and no other with it",
	Play: func(l *lab.Lab) {
		sender, worker := l.Session("sender"), l.Session("worker")
		theirs := order("evt", "flaky")
		theirs.Source = "other shop"
		l.SQL(`INSERT INTO weather VALUES ('` + l.Source("shop") + `'), ('` +
			l.Source("other shop") + `')`)
		sender.Deliver(order("evt", "flaky")).Answers(accepted)
		sender.Deliver(order("evt_2", "flaky")).Answers(accepted)
		sender.Deliver(theirs).Answers(accepted)
		l.SQL(`UPDATE webhook_receipt SET max_attempts = 1`)
		for range 3 {
			works(worker).Answers(dead)
		}

		requeues(worker, l).Answers(requeued)

		l.Rows(1, `SELECT FROM webhook_receipt WHERE status = 'pending' AND event_id = 'evt'
   AND source = '`+l.Source("shop")+`'`)
		l.Rows(2, `SELECT FROM webhook_receipt WHERE status = 'dead'`)
	},
}

func requeues(s *lab.Session, l *lab.Lab) *lab.Session {
	source := l.Source("shop")
	return s.Do("requeue evt", func(ctx context.Context, r lab.Receiver) (lab.Answer, error) {
		return r.(Clerk).Requeue(ctx, source, "evt")
	})
}

// The payload kills the process that works on it, each time.
var LeasedKilledByItsPayload = lab.Scenario{
	Name: "leased_killed_by_its_payload",
	Law:  "an attempt that killed its process counts, so that a payload can't kill for ever",
	Play: func(l *lab.Lab) {
		sender, worker := l.Session("sender"), l.Session("worker")
		sender.Deliver(order("evt", "paid")).Answers(accepted)

		for range 3 {
			claims(worker).Answers(claimed) // and is never heard of again
			expire(l)
			recovers(worker).Answers(recovered(1))
			due(l)
		}

		works(worker).Answers(idle)
		l.Rows(1, `SELECT FROM webhook_receipt WHERE status = 'dead' AND attempts = 3`)
	},
}

// More leases have expired than one recovery takes.
var LeasedBacklogOfExpired = lab.Scenario{
	Name: "leased_backlog_of_expired",
	Law:  "recovery goes through any backlog of expired leases, batch by batch",
	Play: func(l *lab.Lab) {
		worker := l.Session("worker")
		l.SQL(`
INSERT INTO webhook_receipt (source, event_id, event_type, payload, raw_body, model, status,
                             max_attempts, next_attempt_at, actor)
SELECT '` + l.Source("shop") + `', 'evt_' || n, 'order.paid', '{}', '{}', 'leased', 'pending',
       3, clock_timestamp(), 'intake'
  FROM generate_series(1, 250) AS n`)
		l.SQL(`
INSERT INTO webhook_delivery (source, event_id, counted_as, answer)
SELECT source, event_id, 'new', 'accepted' FROM webhook_receipt`)
		l.SQL(`
UPDATE webhook_receipt
   SET status = 'processing', attempts = 1, lease_token = 1, next_attempt_at = NULL,
       last_attempt_at = clock_timestamp(), lease_expires_at = clock_timestamp()`)

		recovers(worker).Answers(recovered(100))
		recovers(worker).Answers(recovered(100))
		recovers(worker).Answers(recovered(50))
		recovers(worker).Answers(recovered(0))

		l.Rows(250, `SELECT FROM webhook_receipt WHERE status = 'pending' AND attempts = 1`)
	},
}

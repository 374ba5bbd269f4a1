package scenarios

import (
	"webhooklab/lab"
	"webhooklab/toxiproxy"
)

// The type is known, and nobody has anything to do for it.
var AtomicIgnoredType = lab.Scenario{
	Name: "atomic_ignored_type",
	Law:  "a known type that nobody handles is processed, and says that it was ignored",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")

		sender.Deliver(order("evt", "viewed")).Answers(ignored)
		sender.Deliver(order("evt", "viewed")).Answers(lab.Duplicate)
		l.Shows(0, "effects")
	},
}

// The change says that no retry can help.
var AtomicPermanentFailure = lab.Scenario{
	Name: "atomic_permanent_failure",
	Law:  "a permanent failure is acknowledged and never runs again",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")

		sender.Deliver(order("evt", "unpayable")).Answers(rejected)
		sender.Deliver(order("evt", "unpayable")).Answers(lab.Duplicate)

		l.Shows(0, "effects")
		l.Rows(1, `SELECT FROM webhook_receipt
 WHERE source = '`+l.Source("shop")+`' AND status = 'rejected' AND attempts = 1`)
	},
}

// The change fails for a passing reason: the sender is told nothing, and delivers again.
var AtomicFailureIsRetried = lab.Scenario{
	Name: "atomic_failure_is_retried",
	Law:  "a failed change leaves a receipt with its reason and no effect; a redelivery runs it again",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")

		storm(l)
		sender.Deliver(order("evt", "flaky")).Answers(lab.Unknown)
		l.Shows(0, "effects")
		l.Rows(1, `SELECT FROM webhook_receipt
 WHERE source = '`+l.Source("shop")+`' AND status = 'failed' AND failure_reason = 'it storms'`)

		calm(l)
		sender.Deliver(order("evt", "flaky")).Answers(processed)
		sender.Deliver(order("evt", "flaky")).Answers(lab.Duplicate)
		l.Shows(1, "effects")
	},
}

// The first attempt failed and is about to record that, when a copy succeeds.
var AtomicFailureRacesSuccess = lab.Scenario{
	Name:       "atomic_failure_races_success",
	Law:        "the record of a failure never overwrites a success",
	Concurrent: true,
	Play: func(l *lab.Lab) {
		first, retry := l.Session("first"), l.Session("retry")

		storm(l)
		first.Deliver(order("evt", "flaky")).HoldBefore("ROLLBACK")
		first.Release() // the change is undone; what is left to do is to record the failure
		calm(l)
		retry.Deliver(order("evt", "flaky")).HoldBefore("COMMIT")
		first.BlockedBy(retry)
		retry.Release()

		retry.Answers(processed)
		first.Answers(lab.Duplicate)
		l.Shows(1, "effects")
	},
}

// The process dies between the claim and the change.
var AtomicCrashAfterClaim = atomicCrash("atomic_crash_after_claim", "INSERT effect")

// The process dies between the change and its mark.
var AtomicCrashBeforeMark = atomicCrash("atomic_crash_before_mark", "UPDATE webhook_receipt")

// The process dies after the business change and before COMMIT.
var AtomicCrashAfterChange = atomicCrash("atomic_crash_after_change", "COMMIT")

func atomicCrash(name, before string) lab.Scenario {
	return lab.Scenario{
		Name: name,
		Law:  "what dies before COMMIT leaves neither claim nor change; the retry makes it once",
		Play: func(l *lab.Lab) {
			sender, retry := l.Session("sender"), l.Session("retry")

			sender.Deliver(order("evt", "paid")).HoldBefore(before)
			sender.LoseRequest(toxiproxy.FIN)
			sender.Answers(lab.Unknown)
			l.Shows(0, "effects")

			retry.Deliver(order("evt", "paid")).Answers(processed)
			l.Shows(1, "effects")
		},
	}
}

// The change is committed, and nobody hears of it.
var AtomicCommitAckLost = lab.Scenario{
	Name: "atomic_commit_ack_lost",
	Law:  "a change whose acknowledgement was lost is made once: the retry is a duplicate",
	Play: func(l *lab.Lab) {
		sender, retry := l.Session("sender"), l.Session("retry")

		sender.Deliver(order("evt", "paid")).HoldBefore("COMMIT")
		sender.LoseAck(toxiproxy.RST)
		sender.Answers(lab.Unknown)

		retry.Deliver(order("evt", "paid")).Answers(lab.Duplicate)
		l.Shows(1, "effects")
	},
}

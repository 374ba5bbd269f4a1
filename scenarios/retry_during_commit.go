package scenarios

import "webhooklab/lab"

// The sender timed out and sent the event again while the first attempt was still in its
// transaction. Looking first and inserting then would let both pass.
var RetryDuringCommit = lab.Scenario{
	Name:       "retry_during_commit",
	Law:        "one event makes one change, however many copies are in flight",
	Concurrent: true,
	Play: func(l *lab.Lab) {
		first, retry := l.Session("first"), l.Session("retry")

		first.Deliver(paid).HoldBefore("COMMIT")
		retry.Deliver(paid).BlockedBy(first)
		first.Release()

		first.Answers(lab.Applied)
		retry.Answers(lab.Duplicate)
	},
}

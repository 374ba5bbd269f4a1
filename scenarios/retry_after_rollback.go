package scenarios

import (
	"webhooklab/lab"
	"webhooklab/toxiproxy"
)

// The copy waits for a first attempt that then dies: nothing was accepted, so the copy must do it.
var RetryAfterRollback = lab.Scenario{
	Name:       "retry_after_rollback",
	Law:        "a copy that waited for an attempt that failed does the work itself",
	Concurrent: true,
	Play: func(l *lab.Lab) {
		first, retry := l.Session("first"), l.Session("retry")

		first.Deliver(paid).HoldBefore("COMMIT")
		retry.Deliver(paid).BlockedBy(first)
		first.LoseRequest(toxiproxy.FIN)

		first.Answers(lab.Unknown)
		retry.Answers(lab.Applied)
	},
}

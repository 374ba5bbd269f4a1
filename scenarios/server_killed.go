package scenarios

import (
	"webhooklab/lab"
	"webhooklab/lab/postgres"
)

// The server dies with a transaction open and comes back.
var ServerKilledBeforeCommit = lab.Scenario{
	Name:  "server_killed_before_commit",
	Law:   "a server that dies before COMMIT leaves nothing half done",
	Needs: []postgres.Ability{postgres.Crash},
	Play: func(l *lab.Lab) {
		sender, retry := l.Session("sender"), l.Session("retry")

		sender.Deliver(paid).HoldBefore("COMMIT")
		l.Kill()
		sender.Answers(lab.Unknown)
		l.Stored(0)

		retry.Deliver(paid).Answers(lab.Applied)
	},
}

// The server dies right after the acknowledgement. Only settings that survive the death of the
// process are promised here: nothing is said about power.
var ServerKilledAfterAck = lab.Scenario{
	Name:  "server_killed_after_ack",
	Law:   "an acknowledged event survives the death of the server",
	Needs: []postgres.Ability{postgres.Crash},
	Play: func(l *lab.Lab) {
		sender, retry := l.Session("sender"), l.Session("retry")

		sender.Deliver(paid).Answers(lab.Applied)
		l.Kill()
		l.Stored(1)

		retry.Deliver(paid).Answers(lab.Duplicate)
	},
}

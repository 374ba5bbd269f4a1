package scenarios

import (
	"webhooklab/lab"
	"webhooklab/toxiproxy"
)

// The connection closes in the middle of the transaction.
var ConnectionLostBeforeCommit = lab.Scenario{
	Name: "connection_lost_before_commit",
	Law:  "what was not committed never was; a new connection accepts the event",
	Play: func(l *lab.Lab) {
		sender, retry := l.Session("sender"), l.Session("retry")

		sender.Deliver(paid).HoldBefore("INSERT object_state")
		sender.LoseRequest(toxiproxy.RST)
		sender.Answers(lab.Unknown)

		retry.Deliver(paid).Answers(lab.Applied)
	},
	Reference: true,
}

// COMMIT never reaches the server.
var (
	CommitRequestLostFIN  = commitRequestLost("commit_request_lost_fin", toxiproxy.FIN)
	CommitRequestLostRST  = commitRequestLost("commit_request_lost_rst", toxiproxy.RST)
	CommitRequestLostHang = commitRequestLost("commit_request_lost_hang", toxiproxy.Hang)
)

func commitRequestLost(name string, how toxiproxy.Close) lab.Scenario {
	return lab.Scenario{
		Name: name,
		Law:  "a COMMIT that never arrived stored nothing: the sender is told nothing and retries",
		Play: func(l *lab.Lab) {
			sender, retry := l.Session("sender"), l.Session("retry")

			sender.Deliver(paid).HoldBefore("COMMIT")
			sender.LoseRequest(how)
			sender.Answers(lab.Unknown)
			l.Stored(0)

			retry.Deliver(paid).Answers(lab.Applied)
		},
	}
}

// The server commits, and the acknowledgement is lost on its way back. To the receiver this looks
// like the case above: only the database knows.
var (
	CommitAckLostFIN  = commitAckLost("commit_ack_lost_fin", toxiproxy.FIN)
	CommitAckLostRST  = commitAckLost("commit_ack_lost_rst", toxiproxy.RST)
	CommitAckLostHang = commitAckLost("commit_ack_lost_hang", toxiproxy.Hang)
)

func commitAckLost(name string, how toxiproxy.Close) lab.Scenario {
	return lab.Scenario{
		Name: name,
		Law:  "a commit whose acknowledgement was lost is done once: the retry is a duplicate",
		Play: func(l *lab.Lab) {
			sender, retry := l.Session("sender"), l.Session("retry")

			sender.Deliver(paid).HoldBefore("COMMIT")
			sender.LoseAck(how)
			sender.Answers(lab.Unknown)
			l.Stored(1)

			retry.Deliver(paid).Answers(lab.Duplicate)
		},
	}
}

// The retry is already waiting when the first attempt commits and its acknowledgement is lost.
var CommitAckLostInFlight = lab.Scenario{
	Name:       "commit_ack_lost_in_flight",
	Law:        "a copy that waited for a commit whose acknowledgement was lost is a duplicate",
	Concurrent: true,
	Play: func(l *lab.Lab) {
		first, retry := l.Session("first"), l.Session("retry")

		first.Deliver(paid).HoldBefore("COMMIT")
		retry.Deliver(paid).BlockedBy(first)
		first.LoseAck(toxiproxy.RST)

		first.Answers(lab.Unknown)
		retry.Answers(lab.Duplicate)
	},
}

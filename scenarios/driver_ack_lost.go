package scenarios

import (
	"webhooklab/lab"
	"webhooklab/properties"
	"webhooklab/toxiproxy"
)

// DriverSuite is what a receiver may expect of its driver: that it repeats nothing by itself which
// may have been executed. The reference has no receiver for it; the receivers are those of others,
// named in TrackRecord, and the tables those of the business change.
var DriverSuite = Suite{
	Name:    "driver",
	Title:   "Drivers: nothing is repeated that may have been executed",
	State:   lab.State{{Name: "effects", SQL: receiptState.SQL("effects")}},
	Laws:    []lab.Invariant{properties.OneEffect},
	Effects: effects,
	Scenarios: []lab.Scenario{
		DriverStatementAckLost,
		DriverCommitAckLost,
	},
}

// The statement is its own transaction: the server executes it, and its acknowledgement is lost.
// The driver has to say that it does not know.
var DriverStatementAckLost = lab.Scenario{
	Name: "driver_statement_ack_lost",
	Law:  "a statement whose acknowledgement was lost is not sent again by a driver",
	Play: func(l *lab.Lab) { ackLost(l, "INSERT effect") },
}

// The same with COMMIT: "not known" must not be told as "not sent".
var DriverCommitAckLost = lab.Scenario{
	Name: "driver_commit_ack_lost",
	Law:  "a COMMIT whose acknowledgement was lost is not called safe to retry by a driver",
	Play: func(l *lab.Lab) { ackLost(l, "COMMIT") },
}

func ackLost(l *lab.Lab, of string) {
	sender := l.Session("sender")

	sender.Deliver(order("evt", "paid")).HoldBefore(of)
	sender.LoseAck(toxiproxy.FIN)

	sender.Answers(lab.Unknown)
	l.Shows(1, "effects")
}

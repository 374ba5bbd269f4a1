package scenarios

import (
	"webhooklab/lab"
	"webhooklab/toxiproxy"
)

const hopCut = "whichever hop is cut where, the retry finds exactly what was committed"

// A delivery comes by HTTP and is answered.
var DoorApplied = lab.Scenario{
	Name: "door_applied",
	Law:  "a signed delivery is answered by 200 once it is durable, and its copies are too",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")

		sender.Deliver(paid).Answers(lab.Applied)
		sender.Deliver(paid).Answers(lab.Duplicate)

		l.Shows(2, "deliveries")
	},
}

// The sender's request never arrives.
var DoorRequestLost = lab.Scenario{
	Name: "door_request_lost",
	Law:  "a request that never arrived stored nothing; the retry is applied",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")

		proved := loses(sender, l, toxiproxy.BeforeCommand, toxiproxy.RST)
		sender.Deliver(paid).Answers(lab.Unknown)
		proved()
		l.Stored(0)

		sender.Deliver(paid).Answers(lab.Applied)
	},
}

// The event is accepted, and the response is lost.
var (
	DoorResponseLostFIN  = doorResponseLost("door_response_lost_fin", toxiproxy.FIN)
	DoorResponseLostRST  = doorResponseLost("door_response_lost_rst", toxiproxy.RST)
	DoorResponseLostHang = doorResponseLost("door_response_lost_hang", toxiproxy.Hang)
)

func doorResponseLost(name string, how toxiproxy.Close) lab.Scenario {
	return lab.Scenario{
		Name: name,
		Law:  "an accepted event whose response was lost is a duplicate when it comes again",
		Play: func(l *lab.Lab) {
			sender := l.Session("sender")

			proved := loses(sender, l, toxiproxy.AfterCommand, how)
			sender.Deliver(paid).Answers(lab.Unknown)
			proved()
			l.Stored(1)

			sender.Deliver(paid).Answers(lab.Duplicate)
		},
	}
}

// DoorBothHops cuts the door's way to the database and the sender's way to the door in every
// combination: what the first loses decides what is stored, what the second loses only who knows.
var DoorBothHops = doorBothHops()

func doorBothHops() (all []lab.Scenario) {
	type cut struct {
		name  string
		close toxiproxy.Close
	}
	cuts := []cut{{"fin", toxiproxy.FIN}, {"rst", toxiproxy.RST}, {"hang", toxiproxy.Hang}}
	for _, database := range cuts {
		all = append(all,
			doorDatabaseCut("door_commit_lost_"+database.name, false, database.close, nil),
			doorDatabaseCut("door_ack_lost_"+database.name, true, database.close, nil))
		if database.close == toxiproxy.Hang {
			continue // its sender gives up and is gone before there is a response to lose
		}
		for _, http := range cuts {
			suffix := database.name + "_response_lost_" + http.name
			all = append(all,
				doorDatabaseCut("door_commit_lost_"+suffix, false, database.close, &http.close),
				doorDatabaseCut("door_ack_lost_"+suffix, true, database.close, &http.close))
		}
	}
	return all
}

func doorDatabaseCut(
	name string, executed bool, how toxiproxy.Close, response *toxiproxy.Close,
) lab.Scenario {
	return lab.Scenario{
		Name: name,
		Law:  hopCut,
		Play: func(l *lab.Lab) {
			sender := l.Session("sender")
			answer, proved := comeAgain, func() {}
			if how == toxiproxy.Hang {
				answer = lab.Unknown
			}
			if response != nil {
				proved = loses(sender, l, toxiproxy.AfterCommand, *response)
				answer = lab.Unknown
			}

			sender.Deliver(paid).HoldBefore("COMMIT")
			if executed {
				sender.LoseAck(how)
			} else {
				sender.LoseRequest(how)
			}
			sender.Answers(answer)
			proved()

			if executed {
				sender.Deliver(paid).Answers(lab.Duplicate)
			} else {
				sender.Deliver(paid).Answers(lab.Applied)
			}
		},
	}
}

// The sender has sent all of it and hangs up before the door has committed.
var DoorSenderLeaves = lab.Scenario{
	Name: "door_sender_leaves",
	Law:  "a sender that leaves loses nothing: what was begun is finished, the retry a duplicate",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")

		sender.Deliver(paid).HoldBefore("COMMIT")
		sender.Leaves().Answers(lab.Unknown)
		sender.RunsOff(2, "COMMIT") // the event, then the entry of its delivery
		l.Stored(1)

		sender.Deliver(paid).Answers(lab.Duplicate)
	},
}

package scenarios

import (
	"fmt"

	"webhooklab/lab"
)

// Deliveries overtake one another: delivered comes after the complaint, accepted after the bounce.
var EmailForwardOnly = lab.Scenario{
	Name: "email_forward_only",
	Law:  "a state moves to a higher rank or not at all, whatever comes when",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")
		added(sender, l).Answers(lab.Done)

		sender.Deliver(email("deferred")).Answers(advanced)
		sender.Deliver(email("delivered")).Answers(advanced)
		sender.Deliver(email("bounced")).Answers(advanced)
		sender.Deliver(email("accepted")).Answers(unchanged)
		sender.Deliver(email("complained")).Answers(advanced)
		sender.Deliver(email("delivered")).Answers(lab.Duplicate)
		sender.Deliver(email("hard_bounce")).Answers(unchanged)
	},
}

// The recipient opens, clicks and unsubscribes; a word that nobody knows comes along.
var EmailFlagsStandBeside = lab.Scenario{
	Name: "email_flags_stand_beside",
	Law:  "flags stand beside the rank and never change it; unknown types are kept and move nothing",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")
		added(sender, l).Answers(lab.Done)

		sender.Deliver(email("opened")).Answers(advanced)
		sender.Deliver(email("delivered")).Answers(advanced)
		sender.Deliver(email("clicked")).Answers(advanced)
		sender.Deliver(email("unsubscribed")).Answers(advanced)
		sender.Deliver(email("teleported")).Answers(unchanged)
		sender.Deliver(email("deferred")).Answers(unchanged)
	},
}

// A higher rank is in its transaction when a lower one arrives.
var EmailOlderWaitsForNewer = lab.Scenario{
	Name:       "email_older_waits_for_newer",
	Law:        "a lower rank that waited for a higher one moves nothing",
	Concurrent: true,
	Play: func(l *lab.Lab) {
		higher, lower := l.Session("higher"), l.Session("lower")
		added(higher, l).Answers(lab.Done)

		higher.Deliver(email("complained")).HoldBefore("COMMIT")
		lower.Deliver(email("delivered")).BlockedBy(higher)
		higher.Release()

		higher.Answers(advanced)
		lower.Answers(unchanged)
	},
}

// Everything happened in one and the same second, as far as the provider's clock can tell.
var EmailTiesInTime = lab.Scenario{
	Name: "email_ties_in_time",
	Law:  "times are shown and never decide",
	Play: func(l *lab.Lab) {
		at := func(kind, second string) lab.Delivery {
			e := email(kind)
			e.Payload = []byte(`{"at": "2026-01-01T00:00:0` + second + `Z"}`)
			return e
		}
		sender := l.Session("sender")
		added(sender, l).Answers(lab.Done)

		sender.Deliver(at("delivered", "2")).Answers(advanced)
		sender.Deliver(at("deferred", "2")).Answers(unchanged)
		sender.Deliver(at("bounced", "1")).Answers(advanced)
		sender.Deliver(at("accepted", "3")).Answers(unchanged)
	},
}

// Every order of four events, one of them twice: twenty-four messages, one end.
var EmailEveryOrder = lab.Scenario{
	Name: "email_every_order",
	Law:  "the same events end in the same state, in every order and with duplicates",
	Free: true,
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")
		for i, order := range orders("deferred", "delivered", "bounced", "opened") {
			for j, kind := range append(order, order[i%len(order)]) {
				e := email(kind)
				e.ObjectID = fmt.Sprintf("message_%d ann@example.org", i)
				e.EventID = fmt.Sprintf("evt_%d_%s", i, kind)
				if !sender.Send(e).Acked {
					l.Equal("acknowledged of order "+fmt.Sprint(order), j+1, j)
				}
				if j == i%5 {
					l.Equal("message added", 1, addedQuietly(sender, l, i))
				}
			}
		}
		l.Shows(24, "statuses")
		l.Rows(1, `
SELECT DISTINCT rank, opened, clicked, unsubscribed
  FROM email_status WHERE source = '`+l.Source("mail")+`'`)
	},
	Reference: true,
}

// orders are all permutations of some words.
func orders(words ...string) (all [][]string) {
	if len(words) < 2 {
		return [][]string{words}
	}
	for i, first := range words {
		rest := append(append([]string(nil), words[:i]...), words[i+1:]...)
		for _, order := range orders(rest...) {
			all = append(all, append([]string{first}, order...))
		}
	}
	return all
}

// All ranks and a flag stand inside their transactions at one barrier.
var EmailReleasedTogether = lab.Scenario{
	Name:       "email_released_together",
	Law:        "the same events end in the same state, also when all run at once",
	Concurrent: true,
	Free:       true,
	Play: func(l *lab.Lab) {
		kinds := []string{"accepted", "deferred", "delivered", "bounced", "complained", "opened"}
		senders := l.Sessions("sender", len(kinds))
		added(senders[0], l).Answers(lab.Done)

		for i, kind := range kinds {
			senders[i].Deliver(email(kind))
		}
		l.ReleaseTogether(senders...)

		got := l.Tally(senders...)
		l.Equal("acknowledged", len(kinds), got["advanced"]+got["unchanged"])
		senders[0].Deliver(email("complained")).Answers(lab.Duplicate)
	},
}

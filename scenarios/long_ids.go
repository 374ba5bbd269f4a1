package scenarios

import (
	"strings"

	"webhooklab/lab"
)

// A provider builds its ids of an account, a date and what not, and only the end tells them apart.
var LongIDsStayApart = lab.Scenario{
	Name: "long_ids_stay_apart",
	Law:  "two long ids that begin alike are two events: an id is whole or refused, never cut",
	Play: func(l *lab.Lab) {
		first, second := revision(1), revision(2)
		first.EventID = strings.Repeat("x", 1000) + "1"
		second.EventID = strings.Repeat("x", 1000) + "2"
		sender := l.Session("sender")

		sender.Deliver(first).Answers(lab.Applied)
		sender.Deliver(second).Answers(lab.Applied)
		sender.Deliver(first).Answers(lab.Duplicate)
	},
}

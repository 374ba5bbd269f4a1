package scenarios

import "webhooklab/lab"

// One message is enqueued first and committed last.
var OutboxCommitsLate = lab.Scenario{
	Name:       "outbox_commits_late",
	Law:        "a message is sent however late its change commits, also when later ones were sent",
	Concurrent: true,
	Play: func(l *lab.Lab) {
		slow, quick, post := l.Session("slow"), l.Session("quick"), l.Session("post")

		slow.Deliver(order("evt_1", "paid")).HoldBefore("COMMIT")
		quick.Deliver(order("evt_2", "paid")).Answers(lab.Done)
		posts(post).Answers(sent)
		slow.Answers(lab.Done)

		posts(post).Answers(sent)
		l.Shows(2, "mails")
	},
}

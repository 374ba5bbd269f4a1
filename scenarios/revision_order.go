package scenarios

import "webhooklab/lab"

// The newer event overtook the older one on its way.
var NewerThenOlder = lab.Scenario{
	Name: "newer_then_older",
	Law:  "an older revision is accepted into the history and never overwrites a newer state",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")

		sender.Deliver(revision(2)).Answers(lab.Applied)
		sender.Deliver(revision(1)).Answers(lab.Stale)
		sender.Deliver(revision(1)).Answers(lab.Duplicate)
	},
}

// Snapshots are complete, so a missing revision is nothing to wait for.
var RevisionGap = lab.Scenario{
	Name: "revision_gap",
	Law:  "a gap in the revisions delays nothing; the missing one is stale when it comes",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")

		sender.Deliver(revision(1)).Answers(lab.Applied)
		sender.Deliver(revision(3)).Answers(lab.Applied)
		sender.Deliver(revision(2)).Answers(lab.Stale)
	},
}

// Everything arrives, some of it twice, nothing in order.
var ShuffledSequence = lab.Scenario{
	Name: "shuffled_sequence",
	Law:  "any order with any duplicates ends at the greatest revision",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")

		sender.Deliver(revision(3)).Answers(lab.Applied)
		sender.Deliver(revision(1)).Answers(lab.Stale)
		sender.Deliver(revision(3)).Answers(lab.Duplicate)
		sender.Deliver(revision(5)).Answers(lab.Applied)
		sender.Deliver(revision(2)).Answers(lab.Stale)
		sender.Deliver(revision(4)).Answers(lab.Stale)
		sender.Deliver(revision(5)).Answers(lab.Duplicate)
		sender.Deliver(revision(1)).Answers(lab.Duplicate)
	},
}

// Revisions run freely from one barrier, each in its own transaction.
var RevisionsReleasedTogether = lab.Scenario{
	Name:       "revisions_released_together",
	Law:        "any order of concurrent revisions ends at the greatest, all of them accepted",
	Concurrent: true,
	Free:       true,
	Play: func(l *lab.Lab) {
		senders := l.Sessions("sender", 6)

		for i, s := range senders {
			s.Deliver(revision(int64(i + 1)))
		}
		l.ReleaseTogether(senders...)

		got := l.Tally(senders...)
		l.Equal("acknowledged", 6, got["applied"]+got["stale"])
		l.Session("sender_1").Deliver(revision(6)).Answers(lab.Duplicate)
	},
}

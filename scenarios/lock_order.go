package scenarios

import "webhooklab/lab"

// Revision 2 holds the object's row while revision 1 waits for it. When 1 may go on, the row that
// it waited for has moved: the guard must look at the row as it is now.
var OlderWaitsForNewer = lab.Scenario{
	Name:       "older_waits_for_newer",
	Law:        "an older revision that waited for a newer one leaves the state unchanged",
	Concurrent: true,
	Play: func(l *lab.Lab) {
		newer, older := l.Session("newer"), l.Session("older")

		newer.Deliver(revision(2)).HoldBefore("COMMIT")
		older.Deliver(revision(1)).BlockedBy(newer)
		newer.Release()

		newer.Answers(lab.Applied)
		older.Answers(lab.Stale)
	},
}

// Revision 3 holds the row while revision 4 waits: now the waiter must win.
var NewerWaitsForOlder = lab.Scenario{
	Name:       "newer_waits_for_older",
	Law:        "a newer revision that waited for an older one advances the state",
	Concurrent: true,
	Play: func(l *lab.Lab) {
		older, newer := l.Session("older"), l.Session("newer")
		older.Deliver(revision(1)).Answers(lab.Applied)

		older.Deliver(revision(3)).HoldBefore("COMMIT")
		newer.Deliver(revision(4)).BlockedBy(older)
		older.Release()

		older.Answers(lab.Applied)
		newer.Answers(lab.Applied)
	},
}

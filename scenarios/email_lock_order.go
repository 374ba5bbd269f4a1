package scenarios

import "webhooklab/lab"

// Two messages are added to the same recipients, each in its own order, while events of both
// recipients are in flight. Taken in the order given, the locks would close a circle. By their
// keys, bob's comes first.
var EmailLocksInOneOrder = lab.Scenario{
	Name:       "email_locks_in_one_order",
	Law:        "recipients are locked in one order, whatever order they are named in",
	Concurrent: true,
	Play: func(l *lab.Lab) {
		ann, bob := l.Session("ann"), l.Session("bob")
		one, two := l.Session("one"), l.Session("two")
		lock := func(s *lab.Session, recipients string) *lab.Session {
			return s.Runs("BEGIN", `SELECT email_lock('locks', NULL, 'welcome', '{`+
				recipients+`}')`, "COMMIT")
		}

		lock(ann, "ann").HoldBefore("COMMIT")
		lock(bob, "bob").HoldBefore("COMMIT")
		lock(one, "ann, bob").BlockedBy(bob)
		lock(two, "bob, ann").BlockedBy(bob, one)
		bob.Release()

		one.BlockedBy(ann)
		two.BlockedBy(one)
		ann.Release()
		one.Answers(lab.Done)
		two.Answers(lab.Done)
		ann.Answers(lab.Done)
		bob.Answers(lab.Done)
	},
	Reference: true,
}

package scenarios

import (
	"webhooklab/lab"
	"webhooklab/lab/postgres"
)

// An outside writer takes the object's row first and the inbox key second, the receiver takes them
// the other way round. An unhurried writer makes the receiver the one that PostgreSQL ends.
var DeadlockReceiverRetries = lab.Scenario{
	Name:       "deadlock_receiver_retries",
	Law:        "a deadlock is retried inside: nothing is lost, nobody sees an error",
	Concurrent: true,
	Reference:  true,
	Needs:      []postgres.Ability{postgres.DeadlockTimeout},
	Play: func(l *lab.Lab) {
		receiver, writer := l.Session("receiver"), l.Session("writer", unhurried)
		receiver.Deliver(revision(1)).Answers(lab.Applied)

		writer.Runs(rowThenKey(l)...).HoldBefore("INSERT webhook_inbox")
		receiver.Deliver(revision(2)).HoldBefore("INSERT object_state")
		writer.BlockedBy(receiver)
		receiver.Release() // closes the circle, and is ended by PostgreSQL

		receiver.BlockedBy(writer) // it has begun again, and now waits for the writer's key
		writer.Answers(lab.Done)
		receiver.Answers(lab.Duplicate)
	},
}

// The same circle, but the receiver is unhurried: the writer is ended, the receiver goes on.
var DeadlockWriterGivesUp = lab.Scenario{
	Name:       "deadlock_writer_gives_up",
	Law:        "the survivor of a deadlock is not disturbed by it",
	Concurrent: true,
	Reference:  true,
	Needs:      []postgres.Ability{postgres.DeadlockTimeout},
	Play: func(l *lab.Lab) {
		receiver, writer := l.Session("receiver", unhurried), l.Session("writer")
		receiver.Deliver(revision(1)).Answers(lab.Applied)

		writer.Runs(rowThenKey(l)...).HoldBefore("INSERT webhook_inbox")
		receiver.Deliver(revision(2)).BlockedBy(writer)

		writer.Answers(lab.SQLError("40P01"))
		receiver.Answers(lab.Applied)
	},
}

// The circle of the first story, but its writer thinks better of it: what it did is not there, so
// what the deadlock undid of the receiver's must be done again.
var DeadlockWriterRollsBack = lab.Scenario{
	Name:       "deadlock_writer_rolls_back",
	Law:        "what a deadlock undid is done again, or not acknowledged",
	Concurrent: true,
	Reference:  true,
	Needs:      []postgres.Ability{postgres.DeadlockTimeout},
	Play: func(l *lab.Lab) {
		receiver, writer := l.Session("receiver"), l.Session("writer", unhurried)
		receiver.Deliver(revision(1)).Answers(lab.Applied)

		steps := rowThenKey(l)
		steps[len(steps)-1] = "ROLLBACK"
		writer.Runs(steps...).HoldBefore("INSERT webhook_inbox")
		receiver.Deliver(revision(2)).HoldBefore("INSERT object_state")
		writer.BlockedBy(receiver)
		receiver.Release()

		receiver.BlockedBy(writer)
		writer.Answers(lab.Done)
		receiver.Answers(lab.Applied)
	},
}

// unhurried sessions never look for a deadlock themselves: the other side is sure to find it.
var unhurried = lab.Setting{Name: "deadlock_timeout", Value: "1h"}

func rowThenKey(l *lab.Lab) []string {
	source := l.Source("shop")
	return []string{
		"BEGIN",
		`UPDATE object_state SET revision = 2, snapshot = '{"total": 20}'
		  WHERE source = '` + source + `' AND object_id = 'order'`,
		`INSERT INTO webhook_inbox (source, event_id, object_id, revision, snapshot)
		 VALUES ('` + source + `', 'evt_2', 'order', 2, '{"total": 20}')`,
		"COMMIT",
	}
}

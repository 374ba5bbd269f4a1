package scenarios

import "webhooklab/lab"

// The role or the database defaults to SERIALIZABLE. Under that level the waiting copy would end
// with a serialization failure; a receiver that names its own level is not touched by it.
var SerializableByDefault = lab.Scenario{
	Name:       "serializable_by_default",
	Law:        "the transaction says its isolation level itself, whatever the role's default",
	Concurrent: true,
	Play: func(l *lab.Lab) {
		strict := lab.Setting{Name: "default_transaction_isolation", Value: "serializable"}
		first, retry := l.Session("first", strict), l.Session("retry", strict)

		first.Deliver(paid).HoldBefore("COMMIT")
		retry.Deliver(paid).BlockedBy(first)
		first.Release()

		first.Answers(lab.Applied)
		retry.Answers(lab.Duplicate)
	},
}

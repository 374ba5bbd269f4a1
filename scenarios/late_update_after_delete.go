package scenarios

import "webhooklab/lab"

// The order was deleted, which is a state like any other; an update that was written before that
// comes late.
var LateUpdateAfterDelete = lab.Scenario{
	Name: "late_update_after_delete",
	Law:  "a deleted object stays at the revision of its deletion: no late update brings it back",
	Play: func(l *lab.Lab) {
		deleted := revision(3)
		deleted.Snapshot = []byte(`{"deleted": true}`)
		sender := l.Session("sender")

		sender.Deliver(revision(1)).Answers(lab.Applied)
		sender.Deliver(deleted).Answers(lab.Applied)
		sender.Deliver(revision(2)).Answers(lab.Stale)
	},
}

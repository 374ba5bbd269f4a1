package scenarios

import "webhooklab/lab"

// Two tenants of one provider count their events from one, and both are in flight.
var SourcesStayApart = lab.Scenario{
	Name:       "sources_stay_apart",
	Law:        "the same ids under two sources are two events of two objects, and never wait",
	Concurrent: true,
	Play: func(l *lab.Lab) {
		theirs := paid
		theirs.Source, theirs.Snapshot = "other shop", []byte(`{"value": "theirs"}`)
		ours, other := l.Session("ours"), l.Session("other")

		ours.Deliver(paid).HoldBefore("COMMIT")
		other.Deliver(theirs).NotBlocked().Answers(lab.Applied)

		ours.Answers(lab.Applied)
		other.Deliver(theirs).Answers(lab.Duplicate)
	},
}

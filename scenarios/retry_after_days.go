package scenarios

import "webhooklab/lab"

// The event was accepted almost three days ago and its acknowledgement lost. The sender, which
// retries for three days, tries for the last time.
var RetryAfterDays = lab.Scenario{
	Name:      "retry_after_days",
	Law:       "an event is a duplicate for as long as its sender retries",
	Reference: true,
	Play: func(l *lab.Lab) {
		source := l.Source("shop")
		l.SQL(`
INSERT INTO webhook_inbox (source, event_id, object_id, revision, snapshot, received_at)
VALUES ('` + source + `', 'evt_paid', 'order', 1, '{"value": true}',
        clock_timestamp() - interval '71 hours')`)
		l.SQL(`
INSERT INTO object_state (source, object_id, revision, snapshot)
VALUES ('` + source + `', 'order', 1, '{"value": true}')`)
		sender := l.Session("sender")

		sender.Deliver(paid).Answers(lab.Duplicate)
	},
}

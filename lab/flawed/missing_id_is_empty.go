package flawed

import "webhooklab/lab"

// MissingIDIsEmpty stores an event that came without an id under the empty one, in a column that
// has no bound. The first such event claims the name for all that follow.
var MissingIDIsEmpty = with(func(s *steps) {
	s.shape = func(d lab.Delivery) error {
		if d.EventID == "" {
			d.EventID = "none"
		}
		return shape(d)
	}
})

// MissingIDIsEmptyAlter is what its schema lacks.
const MissingIDIsEmptyAlter = `
ALTER TABLE webhook_inbox DROP CONSTRAINT webhook_inbox_event_id_bounded;`

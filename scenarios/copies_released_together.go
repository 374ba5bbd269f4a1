package scenarios

import "webhooklab/lab"

// Eight copies stand inside their transactions at one barrier and are let go at once: nobody
// steps them, the scheduler and PostgreSQL decide.
var CopiesReleasedTogether = lab.Scenario{
	Name:       "copies_released_together",
	Law:        "of copies that run freely one is applied and every other is a duplicate",
	Concurrent: true,
	Free:       true,
	Play: func(l *lab.Lab) {
		copies := l.Sessions("copy", 8)

		for _, c := range copies {
			c.Deliver(paid)
		}
		l.ReleaseTogether(copies...)

		got := l.Tally(copies...)
		l.Equal("applied", 1, got["applied"])
		l.Equal("duplicate", 7, got["duplicate"])
	},
}

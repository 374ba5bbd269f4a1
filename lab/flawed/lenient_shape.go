package flawed

import "webhooklab/lab"

// LenientShape checks nothing and leaves it to the database, whose refusal it can't tell from a
// passing fault: the sender retries a broken body for days.
var LenientShape = with(func(s *steps) {
	s.shape = func(lab.Delivery) error { return nil }
})

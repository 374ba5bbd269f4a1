package flawed

import "strings"

// EmailCorrectionForgotten applies a correction to the events that it has, and not to those that
// come after it.
var EmailCorrectionForgotten = mailerWith(func(s *emailSteps) {
	s.advance = strings.Replace(advanceEmail,
		`NOT EXISTS (SELECT FROM email_event WHERE source = $1 AND voids = $5)`, `$5 > ''`, 1)
})

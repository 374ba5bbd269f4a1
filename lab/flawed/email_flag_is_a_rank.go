package flawed

import "strings"

// EmailFlagIsARank takes an opened mail for a delivered one. What then really happens to it is held
// against a state that nobody reported.
var EmailFlagIsARank = mailerWith(func(s *emailSteps) {
	s.advance = strings.Replace(advanceEmail, `greatest(rank, email_rank($4))`,
		`greatest(rank, email_rank($4), CASE WHEN $4 = 'opened' THEN email_rank('delivered') END)`, 1)
})

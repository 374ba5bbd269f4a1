package flawed

// EmailLastWriterWins writes the state that the event names. Whatever arrives last stands.
var EmailLastWriterWins = mailerWith(func(s *emailSteps) {
	s.advance = `
UPDATE email_status
   SET rank = coalesce(email_rank($4), rank),
       opened = opened OR $4 = 'opened',
       clicked = clicked OR $4 = 'clicked',
       unsubscribed = unsubscribed OR $4 = 'unsubscribed'
 WHERE source = $1 AND message_id = $2 AND recipient = $3
   AND NOT EXISTS (SELECT FROM email_event WHERE source = $1 AND voids = $5)
RETURNING true`
})

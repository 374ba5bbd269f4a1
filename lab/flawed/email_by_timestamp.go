package flawed

// EmailByTimestamp takes the event with the latest time for the state, and of equal times the one
// that arrives last. Providers count whole seconds, in which everything can happen.
var EmailByTimestamp = mailerWith(func(s *emailSteps) {
	s.advance = `
UPDATE email_status
   SET rank = email_rank($4)
 WHERE source = $1 AND message_id = $2 AND recipient = $3
   AND email_rank($4) IS NOT NULL
   AND (SELECT occurred_at FROM email_event WHERE source = $1 AND event_id = $5)
       >= ALL (
	SELECT occurred_at FROM email_event
	 WHERE source = $1 AND message_id = $2 AND recipient = $3 AND occurred_at IS NOT NULL)
RETURNING true`
})

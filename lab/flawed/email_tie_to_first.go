package flawed

// EmailTieToFirst takes the event with the latest time for the state, and of equal times the one
// that arrived first. Whatever else happened in that second is never seen.
var EmailTieToFirst = mailerWith(func(s *emailSteps) {
	s.advance = `
UPDATE email_status
   SET rank = email_rank($4)
 WHERE source = $1 AND message_id = $2 AND recipient = $3
   AND email_rank($4) IS NOT NULL
   AND (SELECT occurred_at FROM email_event WHERE source = $1 AND event_id = $5)
       > ALL (
	SELECT occurred_at FROM email_event
	 WHERE source = $1 AND message_id = $2 AND recipient = $3 AND event_id <> $5
	   AND occurred_at IS NOT NULL)
RETURNING true`
})

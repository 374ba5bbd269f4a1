package flawed

// OutboxMarkNotFenced marks a message as sent by its key. A dispatcher that was paused past its
// lease takes the mark of another for its own.
var OutboxMarkNotFenced = posterWith(func(p *poster) {
	p.mark = `
WITH marked AS (
	UPDATE outbox_message
	   SET status = 'sent', sent_at = clock_timestamp(), lease_expires_at = NULL
	 WHERE topic = $1 AND key = $2 AND status <> 'sent'
)
SELECT $3::bigint > 0`
})

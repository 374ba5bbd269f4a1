package flawed

// OutboxPollsAfterLast looks for messages that came after the last one that was sent. One that was
// enqueued earlier and committed later is never seen.
var OutboxPollsAfterLast = posterWith(func(p *poster) {
	p.due = `next_attempt_at <= clock_timestamp()
	   AND enqueued_at > ALL (SELECT enqueued_at FROM outbox_message WHERE status = 'sent')`
})

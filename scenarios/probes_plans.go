package scenarios

// planned is a question that has to be answered through an index, whatever the table has grown to.
func planned(of, index, do string) Probe {
	return Probe{
		Of: of, Name: "plan through " + index, Uses: index, Do: do,
		Law: "what is asked of " + of + " all day is answered through an index",
	}
}

// The first two of each leased table are what its claim and its recovery ask.
var planProbes = []Probe{
	planned("webhook_receipt", "webhook_receipt_due", `SELECT source, event_id FROM webhook_receipt
WHERE next_attempt_at <= (SELECT clock_timestamp())
ORDER BY next_attempt_at LIMIT 1 FOR UPDATE SKIP LOCKED`),
	planned("webhook_receipt", "webhook_receipt_held", `SELECT ctid FROM webhook_receipt
WHERE model = 'leased' AND status = 'processing' AND lease_expires_at <= (SELECT clock_timestamp())
ORDER BY last_attempt_at LIMIT 100 FOR UPDATE SKIP LOCKED`),
	planned("outbox_message", "outbox_message_due", `SELECT topic, key FROM outbox_message
WHERE next_attempt_at <= (SELECT clock_timestamp())
ORDER BY next_attempt_at LIMIT 1 FOR UPDATE SKIP LOCKED`),
	planned("outbox_message", "outbox_message_held", `SELECT ctid FROM outbox_message
WHERE status = 'processing' AND lease_expires_at <= (SELECT clock_timestamp())
ORDER BY last_attempt_at LIMIT 100 FOR UPDATE SKIP LOCKED`),
	planned("email_event", "email_event_history", `SELECT * FROM email_recount
WHERE source = 's' AND message_id = 'm' AND recipient = 'r'`),
	planned("email_event", "email_event_voided", `SELECT FROM email_event
WHERE source = 's' AND voids = 'v'`),
	planned("webhook_delivery", "webhook_delivery_of_event", `SELECT * FROM webhook_delivery
WHERE source = 's' AND event_id = 'e'`),
}

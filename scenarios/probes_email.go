package scenarios

import "slices"

// correction makes a correction of the sound event.
var correction = []string{"message_id = NULL", "recipient = NULL", "type = NULL",
	"payload = NULL", "voids = 'v'", "reason = 'w'", "author = 'a'"}

func badCorrection(check string, changes ...string) Probe {
	return badRow("email_event", check, slices.Concat(correction, changes)...)
}

var emailProbes = slices.Concat(appendOnly("email_event", "type"), []Probe{
	badRow("email_event", "email_event_source_bounded", "source = ''"),
	badRow("email_event", "email_event_event_id_bounded", "event_id = ''"),
	badRow("email_event", "email_event_message_id_bounded", "message_id = ''"),
	badRow("email_event", "email_event_recipient_bounded", "recipient = ''"),
	badRow("email_event", "email_event_type_bounded", "type = repeat('t', 256)"),
	badRow("email_event", "email_event_payload_is_object", "payload = '[]'"),
	badRow("email_event", "email_event_is_event_or_correction",
		"voids = 'v'", "reason = 'w'", "author = 'a'"),
	badRow("email_event", "email_event_is_event_or_correction: half an event", "payload = NULL"),
	badCorrection("email_event_is_event_or_correction: half a correction", "author = NULL"),
	badCorrection("email_event_is_event_or_correction: both", "occurred_at = now()"),
	badCorrection("email_event_voids_bounded", "voids = ''"),
	badCorrection("email_event_reason_bounded", "reason = ''"),
	badCorrection("email_event_author_bounded", "author = ''"),
	badCorrection("email_event_voids_another", "voids = 'e'"),

	badRow("email_status", "email_status_source_bounded", "source = ''"),
	badRow("email_status", "email_status_message_id_bounded", "message_id = ''"),
	badRow("email_status", "email_status_recipient_bounded", "recipient = repeat('r', 1025)"),
	badRow("email_status", "email_status_rank_known", "rank = 6"),
	{
		Of: "email_status", Name: "the order of ranks",
		Law: "accepted is below deferred, delivered, bounced and complained, in this order",
		Do: `SELECT type, email_rank(type)
FROM unnest(ARRAY['accepted', 'deferred', 'delivered', 'bounced', 'complained'])
	WITH ORDINALITY AS t (type, rank)
WHERE email_rank(type) IS DISTINCT FROM rank`,
	},
	{
		Of: "email_status", Name: "locks of others",
		Law: "who has nothing to do with an event or a recipient never waits for it",
		Given: `SELECT email_lock('s', 'e', 'm', '{r}'), email_lock('t', 'e', 'm', '{r}'),
	email_lock('s', NULL, 'n', '{r}'), email_lock('s', NULL, 'm', '{q}')`,
		Do: `SELECT count(*) FROM pg_locks
WHERE locktype = 'advisory' AND pid = pg_backend_pid()
HAVING count(*) <> 6`,
	},
	{
		Of: "email_status", Name: "what was voided",
		Law:   "what a correction of its own source voids has no part in a state, and nothing else",
		Given: voidedHistory,
		Do: `SELECT * FROM email_recount
WHERE source = 's' AND (rank > 0 OR opened OR clicked OR unsubscribed)
   OR source = 't' AND (rank, opened) IS DISTINCT FROM (3, true)
   OR source IN ('s', 't') AND message_id IS NULL`,
	},
})

// voidedHistory is one event of each sort, all of them voided; and a history of the same ids at a
// source that voids nothing.
const voidedHistory = `
INSERT INTO email_event (source, event_id, message_id, recipient, type, payload)
SELECT source, type, 'm', 'r', type, '{}'
FROM unnest(ARRAY['s', 't']) AS source,
     unnest(ARRAY['delivered', 'opened', 'clicked', 'unsubscribed']) AS type;
INSERT INTO email_event (source, event_id, voids, reason, author)
SELECT 's', 'fix_' || type, type, 'w', 'a'
FROM unnest(ARRAY['delivered', 'opened', 'clicked', 'unsubscribed']) AS type`

package scenarios

import "webhooklab/lab/mutation"

// outboxMutants are the clauses that put a message into the outbox.
var outboxMutants = []mutation.Mutant{
	sqlMutant("outbox", "enqueue_without_conflict_clause", "INTO outbox_message",
		"ON CONFLICT DO NOTHING", ""),
	sqlMutant("outbox", "look_up_any_payload", "FROM outbox_message",
		"payload = $3::jsonb", "$3::jsonb IS NOT NULL"),
	sqlMutant("outbox", "look_up_any_topic", "SELECT payload =",
		"topic = $1", "$1::text IS NOT NULL"),
	sqlMutant("outbox", "look_up_any_key", "SELECT payload =",
		"key = $2", "$2::text IS NOT NULL"),
}

package scenarios

import "slices"

var (
	pendingMessage = later("outbox_message")
	leasedMessage  = later("outbox_message", step(taken))
	sentMessage    = later("outbox_message", step(taken), step(toSent))
	failedMessage  = later("outbox_message", step(taken), step(toFailed))
	deadMessage    = later("outbox_message", step(taken), step(toDead))
)

func badMessageStep(name, given, set string) Probe {
	return badStep("outbox_message", name, given, set)
}

var outboxSteps = []Probe{
	badBirth("outbox_message", "born failed", "status = 'failed'", "failure_reason = 'r'"),
	badBirth("outbox_message", "born tried", "attempts = 1"),
	badMessageStep("claimed without an attempt", pendingMessage, step(taken, "attempts = 0")),
	badMessageStep("claimed for two attempts", pendingMessage, step(taken, "attempts = 2")),
	badMessageStep("claimed without a token", pendingMessage, step(taken, "lease_token = 0")),
	badMessageStep("claimed when sent", sentMessage, step(taken, "sent_at = NULL")),
	badMessageStep("failed with another attempt", leasedMessage, step(toFailed, "attempts = 0")),
	badMessageStep("failed with another token", leasedMessage, step(toFailed, "lease_token = 0")),
	badMessageStep("changed when sent", sentMessage, `failure_reason = 'other'`),
	badMessageStep("put back when sent", sentMessage, step(toPending, "sent_at = NULL")),
	badMessageStep("failed when dead", deadMessage, step(toFailed, "max_attempts = max_attempts + 1")),
	badMessageStep("sent without a claim", pendingMessage, step(toSent, "next_attempt_at = NULL")),
}

var outboxProbes = slices.Concat([]Probe{
	badRow("outbox_message", "outbox_message_topic_bounded", "topic = ''"),
	badRow("outbox_message", "outbox_message_key_bounded", "key = ''"),
	badRow("outbox_message", "outbox_message_actor_bounded", "actor = ''"),
	badRow("outbox_message", "outbox_message_reason_bounded", "failure_reason = ''"),
	badRow("outbox_message", "outbox_message_claimable_is_due", "next_attempt_at = NULL"),
	badRow("outbox_message", "outbox_message_processing_is_leased", "lease_expires_at = now()"),
	badRow("outbox_message", "outbox_message_sent_has_time", "sent_at = now()"),
	badUpdate("outbox_message", "outbox_message_status_known", leasedMessage,
		`status = 'lost', lease_expires_at = NULL`),
	badUpdate("outbox_message", "outbox_message_attempts_bounded", leasedMessage,
		`max_attempts = 0`),
	badUpdate("outbox_message", "outbox_message_status_known: dead too soon", leasedMessage,
		step(toDead, "max_attempts = 5")),
	badUpdate("outbox_message", "outbox_message_claimable_is_due: used up", leasedMessage,
		step(toFailed, "max_attempts = 1")),
	badUpdate("outbox_message", "outbox_message_attempts_bounded: too many",
		later("outbox_message", step(taken), step(toFailed), step(taken)), `max_attempts = 1`),
	restored("outbox_message", "outbox_message_attempts_bounded: below none", "attempts = -1"),
	restored("outbox_message", "outbox_message_attempts_bounded: none allowed",
		"max_attempts = 0", "status = 'rejected'", "failure_reason = 'r'",
		"next_attempt_at = NULL"),
	badUpdate("outbox_message", "outbox_message_failure_has_reason", leasedMessage,
		step(toFailed, "failure_reason = NULL")),

	refusedChange("outbox_message", "truncated", "", "TRUNCATE outbox_message"),
}, contents(), purges("outbox_message", map[string]string{
	"pending": pendingMessage, "processing": leasedMessage, "failed": failedMessage,
}))

// contents are changes of what is to be sent, each column by itself.
func contents() (all []Probe) {
	for _, c := range []column{
		{"topic", "'other'"}, {"key", "'other'"}, {"payload", "'[]'"}, {"enqueued_at", "now()"},
	} {
		all = append(all, refusedChange("outbox_message", "another "+c.name, pendingMessage,
			update("outbox_message", c.name+" = "+c.value)))
	}
	return all
}

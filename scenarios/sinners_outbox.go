package scenarios

import "webhooklab/lab/flawed"

var outboxSinners = []Sinner{
	{
		Name: "outbox_row_after_commit", Scenario: "outbox_crash_before_enqueue",
		Kind: "two transactions where one is needed", Same: "projection_outside_transaction",
		Law:      "message_iff_change",
		Harm:     "what dies in between is a change that nobody outside ever hears of",
		Receiver: flawed.OutboxRowAfterCommit,
	},
	{
		Name: "outbox_sent_before_commit", Scenario: "outbox_rolled_back_sends_nothing",
		Kind: "acknowledged before the durable row", Law: "called_was_enqueued",
		Harm:     "a mail says that an order is on its way which was rolled back",
		Receiver: flawed.OutboxSentBeforeCommit,
	},
	{
		Name: "outbox_marked_before_send", Scenario: "outbox_crash_before_mark",
		Kind: "marked before the effect", Same: "mark_before_effect",
		Harm:     "what dies in between was sent on paper only",
		Receiver: flawed.OutboxMarkedBeforeSend,
	},
	{
		Name: "outbox_mark_not_fenced", Scenario: "outbox_paused_dispatcher",
		Kind: "not fenced by a token", Same: "completion_not_fenced",
		Harm:     "a dispatcher that lost its lease takes the mark of another for its own",
		Receiver: flawed.OutboxMarkNotFenced,
	},
	{
		Name: "outbox_key_per_attempt", Scenario: "outbox_downstream_ack_lost",
		Kind: "idempotency key of an attempt", Law: "called_was_enqueued",
		Harm:     "a card is charged once for each attempt whose answer was lost",
		Receiver: flawed.OutboxKeyPerAttempt,
	},
	{
		Name: "outbox_polls_after_last", Scenario: "outbox_commits_late",
		Kind:     "outbox polled by position",
		Harm:     "now and then a message that was committed late is never sent",
		Receiver: flawed.OutboxPollsAfterLast,
	},
}

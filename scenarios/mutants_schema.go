package scenarios

import (
	"slices"

	"webhooklab/lab/mutation"
)

// schemaEdits take the guards out of the schema's functions, views and CHECKs, one condition at a
// time. The views for operators decide nothing, and are left alone.
var schemaEdits = slices.Concat(
	within("webhook_receipt", "FUNCTION step_receipt", receiptStepEdits),
	within("outbox_message", "FUNCTION step_message", messageStepEdits),
	within("webhook_receipt", "FUNCTION refuse_unfinished", purgeEdits("'processed', ")),
	within("outbox_message", "FUNCTION refuse_unsent", purgeEdits("'sent', ")),
	within("webhook_receipt", "FUNCTION without_varying", varyingEdits),
	within("email_status", "FUNCTION email_rank", rankEdits),
	within("email_status", "FUNCTION email_lock", lockEdits),
	within("email_status", "VIEW email_recount", recountEdits),
	checkEdits,
)

// A cut is one condition and what stands in its place.
type cut struct{ name, old, new string }

func within(of, object string, cuts []cut) []mutation.TextEdit {
	edits := make([]mutation.TextEdit, len(cuts))
	for i, c := range cuts {
		edits[i] = mutation.TextEdit{Of: of, Object: object, Name: c.name, Old: c.old, New: c.new}
	}
	return edits
}

var receiptStepEdits = []cut{
	{"leased born in any status", "AND NEW.status = 'pending' AND NEW.attempts = 0",
		"AND NEW.attempts = 0"},
	{"leased born with attempts", "'pending' AND NEW.attempts = 0", "'pending'"},
	{"atomic born in any status", "AND NEW.status = 'processing' AND NEW.attempts = 1",
		"AND NEW.attempts = 1"},
	{"atomic born with attempts", "'processing' AND NEW.attempts = 1", "'processing'"},
	{"claims from any status", "AND OLD.status IN ('pending', 'failed') THEN", "THEN"},
	{"claims count nothing", "allowed := NEW.attempts = OLD.attempts + 1\n",
		"allowed := true\n"},
	{"claims need no token", "NEW.lease_token > OLD.lease_token OR NEW.model = 'atomic'", "true"},
	{"atomic claims need a token", "OR NEW.model = 'atomic')", ")"},
	{"results change attempts", "allowed := NEW.attempts = OLD.attempts AND NEW.lease",
		"allowed := NEW.lease"},
	{"results change the token", "AND NEW.lease_token = OLD.lease_token AND CASE", "AND CASE"},
	{"final rows change", "THEN was IN ('pending', 'processing', 'failed')", "THEN true"},
	{"atomic put back", "THEN NEW.model = 'leased' OR NEW.status <> 'pending'", "THEN true"},
	{"dead to any status", "THEN NEW.status = 'pending' AND NEW.max", "THEN NEW.max"},
	{"requeued without attempts", "NEW.status = 'pending' AND NEW.max_attempts > OLD.max_attempts",
		"NEW.status = 'pending'"},
	{"final to any status", "ELSE false\n", "ELSE true\n"},
	{"every update is a step", "IF was IS DISTINCT FROM NEW.status THEN", "IF true THEN"},
	{"no step is written down", "IF was IS DISTINCT FROM NEW.status THEN", "IF false THEN"},
}

var messageStepEdits = []cut{
	{"born in any status", "NEW.status = 'pending' AND NEW.attempts = 0\n", "NEW.attempts = 0\n"},
	{"born with attempts", "NEW.status = 'pending' AND NEW.attempts = 0\n",
		"NEW.status = 'pending'\n"},
	{"claims from any status", "WHEN OLD.status IN ('pending', 'failed') AND NEW", "WHEN NEW"},
	{"claims count nothing", "NEW.attempts = OLD.attempts + 1 AND NEW", "NEW"},
	{"claims need no token", "+ 1 AND NEW.lease_token > OLD.lease_token", "+ 1"},
	{"results change attempts", "WHEN NEW.attempts <> OLD.attempts OR NEW", "WHEN NEW"},
	{"results change the token", " OR NEW.lease_token <> OLD.lease_token", ""},
	{"final rows change", "OLD.status IN ('pending', 'processing', 'failed')\n", "true\n"},
	{"dead to any status", "NEW.status = 'pending' AND NEW.max", "NEW.max"},
	{"requeued without attempts", " AND NEW.max_attempts > OLD.max_attempts", ""},
	{"anything to any status", "OLD.status = 'processing'\n    END)", "true\n    END)"},
}

// purgeEdits let unfinished rows be deleted, status by status.
func purgeEdits(old string) (cuts []cut) {
	for _, status := range []string{"pending", "processing", "failed"} {
		cuts = append(cuts, cut{"purges " + status, old, old + "'" + status + "', "})
	}
	return cuts
}

var varyingEdits = []cut{
	{"paths may not be null", "jsonb_typeof(paths) = 'null'", "false"},
	{"paths may lead anywhere", "jsonb_typeof(payload #> path[:cardinality(path) - 1]) = 'object'",
		"true"},
	{"nothing varies", "payload := payload #- path;", "NULL;"},
}

var rankEdits = []cut{
	{"accepted as high as deferred", "THEN 1\n", "THEN 2\n"},
	{"deferred as high as delivered", "THEN 2\n", "THEN 3\n"},
	{"delivered as high as bounced", "THEN 3\n", "THEN 4\n"},
	{"bounced as high as complained", "THEN 4\n", "THEN 5\n"},
	{"complained as low as bounced", "THEN 5\n", "THEN 4\n"},
}

var lockEdits = []cut{
	{"no lock of an event", "IF event_id IS NOT NULL THEN", "IF false THEN"},
	{"event locks of all sources", "jsonb_build_array(source, event_id)",
		"jsonb_build_array(event_id)"},
	{"no lock of recipients", "PERFORM pg_advisory_xact_lock(key);", "NULL;"},
	{"recipient locks of all messages", "jsonb_build_array(source, message_id, r)",
		"jsonb_build_array(source, r)"},
	{"recipient locks of all sources", "jsonb_build_array(source, message_id, r)",
		"jsonb_build_array(message_id, r)"},
	{"locks taken twice", "SELECT DISTINCT hash", "SELECT hash"},
	{"locks in the order given", `SELECT DISTINCT hashtextextended(` +
		`jsonb_build_array(source, message_id, r)::text, 0) AS k
        FROM unnest(recipients) AS r
        ORDER BY k`, `SELECT hashtextextended(` +
		`jsonb_build_array(source, message_id, r)::text, 0) AS k
        FROM unnest(recipients) AS r`},
}

var recountEdits = []cut{
	{"rank of voided events", "FILTER (WHERE NOT c.voided)", ""},
	{"opened by voided events", "e.type = 'opened' AND NOT c.voided", "e.type = 'opened'"},
	{"clicked by voided events", "e.type = 'clicked' AND NOT c.voided", "e.type = 'clicked'"},
	{"unsubscribed by voided events", "e.type = 'unsubscribed' AND NOT c.voided",
		"e.type = 'unsubscribed'"},
	{"voided by other sources", "WHERE v.source = e.source\n          AND v.voids", "WHERE v.voids"},
	{"voided by any correction", "\n          AND v.voids = e.event_id", ""},
	{"corrections have a state", "WHERE e.message_id IS NOT NULL\n", ""},
}

var checkEdits = slices.Concat(
	within("webhook_receipt", "CONSTRAINT webhook_receipt_status_known", []cut{
		{"dead with attempts left", " AND attempts = max_attempts", ""},
		{"dead and atomic", " AND model = 'leased'", ""}}),
	within("webhook_receipt", "CONSTRAINT webhook_receipt_attempts_bounded", []cut{
		{"atomic bounded", "max_attempts IS NULL AND attempts > 0", "attempts > 0"},
		{"atomic untried", "max_attempts IS NULL AND attempts > 0", "max_attempts IS NULL"},
		{"more attempts than allowed", "attempts BETWEEN 0 AND max_attempts", "attempts >= 0"},
		{"fewer attempts than none", "attempts BETWEEN 0 AND max", "attempts <= max"},
		{"none allowed", " AND max_attempts > 0", ""}}),
	within("webhook_receipt", "CONSTRAINT webhook_receipt_claimable_is_due", []cut{
		{"claimable without an attempt left",
			"\n        AND (next_attempt_at IS NULL OR attempts < max_attempts)", ""}}),
	within("webhook_receipt", "CONSTRAINT webhook_receipt_result_has_reason", []cut{
		{"processed without change", "change IS NOT NULL AND processed_at", "processed_at"},
		{"processed without time", "change IS NOT NULL AND processed_at IS NOT NULL",
			"change IS NOT NULL"},
		{"failed without reason", "WHEN 'failed' THEN failure_reason IS NOT NULL",
			"WHEN 'failed' THEN true"},
		{"rejected without reason", "WHEN 'rejected' THEN failure_reason IS NOT NULL",
			"WHEN 'rejected' THEN true"},
		{"dead without reason", "WHEN 'dead' THEN failure_reason IS NOT NULL",
			"WHEN 'dead' THEN true"},
		{"change without result", "change IS NULL AND processed_at IS NULL",
			"processed_at IS NULL"},
		{"time without result", "change IS NULL AND processed_at IS NULL", "change IS NULL"}}),
	within("outbox_message", "CONSTRAINT outbox_message_status_known", []cut{
		{"dead with attempts left", " AND attempts = max_attempts", ""}}),
	within("outbox_message", "CONSTRAINT outbox_message_attempts_bounded", []cut{
		{"more attempts than allowed", "attempts BETWEEN 0 AND max_attempts", "attempts >= 0"},
		{"fewer attempts than none", "attempts BETWEEN 0 AND max", "attempts <= max"},
		{"none allowed", " AND max_attempts > 0", ""}}),
	within("outbox_message", "CONSTRAINT outbox_message_claimable_is_due", []cut{
		{"claimable without an attempt left",
			"\n        AND (next_attempt_at IS NULL OR attempts < max_attempts)", ""}}),
	within("email_event", "CONSTRAINT email_event_is_event_or_correction", []cut{
		{"event with a correction", "= 0\n            AND num_nonnulls(voids, reason, author) = 0",
			"= 0"},
		{"half a correction", "\n            AND num_nulls(voids, reason, author) = 0", ""},
		{"half an event", "num_nulls(message_id, recipient, type, payload) = 0\n            AND ",
			""},
		{"correction with an event",
			"num_nonnulls(message_id, recipient, type, payload, occurred_at) = 0\n            AND ",
			""}}),
)

package scenarios

import "webhooklab/lab/mutation"

func emailMutant(name, in, old, new string) mutation.Mutant {
	return sqlMutant("email", name, in, old, new)
}

// What tells the statements of the email contract apart.
const (
	emailLock     = "FROM email_lock("
	emailKeep     = "(source, event_id, message_id, recipient, type, occurred_at, payload)"
	emailLookUp   = "AND type = $5"
	emailAdvance  = "greatest(rank, email_rank($4))"
	emailFind     = "SELECT message_id, recipient"
	emailCorrect  = "(source, event_id, voids, reason, author)"
	emailCorrect2 = "voids = $3"
	emailRecount  = "FROM email_recount AS r"
	emailAdd      = "LEFT JOIN ("
)

var emailMutants = []mutation.Mutant{
	emailMutant("lock_no_event", emailLock, "nullif($2, '')", "nullif(nullif($2, ''), $2)"),
	emailMutant("lock_no_recipient", emailLock, "$4::text[]", "($4::text[])[2:1]"),
	emailMutant("lock_at_any_level", emailLock,
		"current_setting('transaction_isolation') = 'read committed'", "true"),

	emailMutant("keep_without_conflict_clause", emailKeep, "ON CONFLICT DO NOTHING", ""),
	emailMutant("keep_as_known", emailKeep, "RETURNING EXISTS", "RETURNING true OR EXISTS"),
	emailMutant("keep_known_in_any_source", emailKeep, "WHERE source = $1\n", "WHERE true\n"),
	emailMutant("keep_known_of_any_message", emailKeep, "AND message_id = $3", ""),
	emailMutant("keep_known_to_anybody", emailKeep, "AND recipient = $4", ""),

	emailMutant("look_up_any_message", emailLookUp, "message_id = $3", "$3::text IS NOT NULL"),
	emailMutant("look_up_any_recipient", emailLookUp, "AND recipient = $4", "AND $4::text IS NOT NULL"),
	emailMutant("look_up_any_type", emailLookUp, "AND type = $5", "AND $5::text IS NOT NULL"),
	emailMutant("look_up_any_payload", emailLookUp, "AND payload = $6::jsonb",
		"AND $6::jsonb IS NOT NULL"),
	emailMutant("look_up_null_is_same", emailLookUp, "$6::jsonb, false)", "$6::jsonb, true)"),
	emailMutant("look_up_in_any_source", emailLookUp, "source = $1", "$1::text IS NOT NULL"),
	emailMutant("look_up_any_event", emailLookUp, "event_id = $2", "$2::text IS NOT NULL"),

	emailMutant("advance_without_greatest", emailAdvance, "greatest(rank, email_rank($4))",
		"coalesce(email_rank($4), rank)"),
	emailMutant("advance_any_rank", emailAdvance, "rank < email_rank($4)", "true"),
	emailMutant("advance_equal_rank", emailAdvance, "rank < email_rank($4)",
		"rank <= email_rank($4)"),
	emailMutant("advance_unsets_opened", emailAdvance, "opened OR $4 = 'opened'", "$4 = 'opened'"),
	emailMutant("advance_unsets_clicked", emailAdvance, "clicked OR $4 = 'clicked'",
		"$4 = 'clicked'"),
	emailMutant("advance_unsets_unsubscribed", emailAdvance,
		"unsubscribed OR $4 = 'unsubscribed'", "$4 = 'unsubscribed'"),
	emailMutant("advance_opened_twice", emailAdvance, "'opened' AND NOT opened", "'opened'"),
	emailMutant("advance_clicked_twice", emailAdvance, "'clicked' AND NOT clicked", "'clicked'"),
	emailMutant("advance_unsubscribed_twice", emailAdvance,
		"'unsubscribed' AND NOT unsubscribed", "'unsubscribed'"),
	emailMutant("advance_in_any_source", emailAdvance, "WHERE source = $1\n  AND message_id",
		"WHERE message_id"),
	emailMutant("advance_any_message", emailAdvance, "AND message_id = $2", "AND $2::text IS NOT NULL"),
	emailMutant("advance_any_recipient", emailAdvance, "AND recipient = $3",
		"AND $3::text IS NOT NULL"),
	emailMutant("advance_what_was_voided", emailAdvance, "AND voids = $5",
		"AND voids = $5 AND false"),
	emailMutant("advance_voided_elsewhere", emailAdvance,
		"WHERE source = $1\n        AND voids", "WHERE voids"),
	emailMutant("advance_voided_by_any", emailAdvance, "AND voids = $5",
		"AND voids IS NOT NULL AND $5::text IS NOT NULL"),

	emailMutant("find_in_any_source", emailFind, "source = $1", "$1::text IS NOT NULL"),
	emailMutant("find_any_event", emailFind, "event_id = $2", "$2::text IS NOT NULL"),
	emailMutant("correct_without_conflict_clause", emailCorrect, "ON CONFLICT DO NOTHING", ""),
	emailMutant("correct_known_in_any_source", emailCorrect, "WHERE source = $1\n", "WHERE true\n"),
	emailMutant("correct_known_of_any_message", emailCorrect, "AND message_id = $6",
		"AND $6::text IS NOT NULL"),
	emailMutant("correct_known_to_anybody", emailCorrect, "AND recipient = $7",
		"AND $7::text IS NOT NULL"),
	emailMutant("look_up_any_voided", emailCorrect2, "voids = $3", "$3::text IS NOT NULL"),
	emailMutant("look_up_any_reason", emailCorrect2, "AND reason = $4", "AND $4::text IS NOT NULL"),
	emailMutant("look_up_any_author", emailCorrect2, "AND author = $5, false",
		"AND $5::text IS NOT NULL, false"),
	emailMutant("look_up_event_is_correction", emailCorrect2, "$5, false)", "$5, true)"),
	emailMutant("look_up_correction_in_any_source", emailCorrect2, "source = $1",
		"$1::text IS NOT NULL"),
	emailMutant("look_up_any_correction", emailCorrect2, "event_id = $2", "$2::text IS NOT NULL"),

	emailMutant("recount_in_any_source", emailRecount, "s.source = $1\n  AND ", ""),
	emailMutant("recount_any_message", emailRecount, "AND s.message_id = $2\n", "\n"),
	emailMutant("recount_any_recipient", emailRecount, "AND s.recipient = $3\n", "\n"),
	emailMutant("recount_from_any_source", emailRecount, "AND r.source = $1\n", "\n"),
	emailMutant("recount_from_any_message", emailRecount, "AND r.message_id = $2\n", "\n"),
	emailMutant("recount_from_any_recipient", emailRecount, "AND r.recipient = $3\n", "\n"),
	emailMutant("recount_what_is_the_same", emailRecount,
		"IS DISTINCT FROM (r.rank, r.opened, r.clicked, r.unsubscribed)", "IS NOT NULL"),

	emailMutant("add_without_conflict_clause", emailAdd, "ON CONFLICT DO NOTHING", ""),
	emailMutant("add_without_history", emailAdd, "WHERE source = $1", "WHERE false AND source = $1"),
	emailMutant("add_history_of_any_source", emailAdd, "WHERE source = $1\n      AND message_id",
		"WHERE message_id"),
	emailMutant("add_history_of_any_message", emailAdd, "AND message_id = $2", ""),
	emailMutant("add_what_has_history", emailAdd, "LEFT JOIN", "JOIN"),
}

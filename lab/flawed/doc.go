// Package flawed holds receivers that are broken on purpose, one kind of sin a file. Each looks like code
// that somebody ships, and each is caught by the scenario or the law that its entry in All names:
// they are how the lab shows that its judge can say no.
package flawed

import "webhooklab/lab"

// A Sin is one broken receiver and what must catch it.
type Sin struct {
	Name     string // the sin
	Scenario string // the scenario that fails because of it
	New      lab.NewReceiver
}

// All is every sin against the snapshot contract.
var All = []Sin{
	{"check_then_insert", "retry_during_commit", CheckThenInsert},
	{"insert_or_select", "retry_during_commit", InsertOrSelect},
	{"conflict_target_event_id", "reused_revision", ConflictTargetEventID},
	{"unconditional_advance", "newer_then_older", UnconditionalAdvance},
	{"advance_equal_revision", "backfilled_projection", AdvanceEqualRevision},
	{"advance_checked_before", "older_waits_for_newer", AdvanceCheckedBefore},
	{"projection_outside_transaction", "connection_lost_before_commit", ProjectionOutside},
	{"ack_before_commit", "commit_request_lost_fin", AckBeforeCommit},
	{"key_without_source", "sources_stay_apart", KeyWithoutSource},
	{"compare_as_float", "same_json_written_otherwise", CompareAsFloat},
	{"any_conflict_is_duplicate", "reused_event_id_other_snapshot", AnyConflictIsDuplicate},
	{"default_isolation", "serializable_by_default", DefaultIsolation},
	{"deadlock_is_an_error", "deadlock_receiver_retries", DeadlockIsAnError},
	{"lenient_shape", "invalid_leaves_no_trace", LenientShape},
}

// Email is every sin against the contract of email status.
var Email = []Sin{
	{"email_last_writer_wins", "email_forward_only", EmailLastWriterWins},
	{"email_by_timestamp", "email_ties_in_time", EmailByTimestamp},
	{"email_dropped_early", "email_before_its_message", EmailDroppedEarly},
	{"email_without_lock", "email_while_message_is_added", EmailWithoutLock},
}

package scenarios

import (
	"webhooklab/lab"
	"webhooklab/lab/flawed"
)

var snapshotSinners = []Sinner{
	{
		Name: "check_then_insert", Scenario: "retry_during_commit",
		Kind:     "check-then-insert race",
		Harm:     "two copies pass the check together; one fails on the key and comes again",
		Receiver: flawed.CheckThenInsert,
	},
	{
		Name: "insert_or_select", Scenario: "retry_during_commit",
		Kind:     "check-then-insert race",
		Harm:     "now and then a copy in flight finds no row at all, and its delivery fails",
		Receiver: flawed.InsertOrSelect,
	},
	{
		Name: "dedup_in_memory", Scenario: "retry_during_commit",
		Kind:     "identity by digest or memory",
		Harm:     "a second replica, or the first after its restart, accepts every event again",
		Receiver: flawed.DedupInMemory, Alter: flawed.DedupInMemoryAlter,
	},
	{
		Name: "lock_of_a_session", Scenario: "retry_during_commit",
		Kind:     "session lock behind a pooler",
		Harm:     "locks that nobody gives back pile up, and copies fail until the pool restarts",
		Receiver: flawed.LockOfASession,
	},
	{
		Name: "conflict_target_event_id", Scenario: "reused_revision",
		Kind:     "conflict clause with one of two keys",
		Harm:     "a second event for a revision fails on the other key, and is retried for days",
		Receiver: flawed.ConflictTargetEventID,
	},
	{
		Name: "violation_caught_in_transaction", Scenario: "exact_retry",
		Kind:     "unique violation caught in the transaction",
		Harm:     "every retry of an accepted event fails, and the sender disables the endpoint",
		Receiver: flawed.ViolationCaughtInTransaction,
	},
	{
		Name: "rollback_taken_for_commit", Scenario: "deadlock_writer_rolls_back",
		Kind: "COMMIT of an aborted transaction", Law: "acked_is_stored",
		Harm:     "the event is acknowledged and lost whenever a later statement fails",
		Receiver: flawed.RollbackTakenForCommit,
	},
	{
		Name: "no_row_is_an_error", Scenario: "exact_retry",
		Kind:     "no row taken for an error",
		Harm:     "every retry of an accepted event fails, and the sender disables the endpoint",
		Receiver: flawed.NoRowIsAnError,
	},
	{
		Name: "any_conflict_is_duplicate", Scenario: "reused_event_id_other_snapshot",
		Kind: "no row taken for a duplicate", Law: "acked_is_stored",
		Harm:     "whatever meets a key is acknowledged and lost",
		Receiver: flawed.AnyConflictIsDuplicate,
	},
	{
		Name: "changed_body_is_duplicate", Scenario: "reused_event_id_other_snapshot",
		Kind: "changed body reported as duplicate", Law: "acked_is_stored",
		Harm:     "other content under a known id is acknowledged and lost, and nobody is told",
		Receiver: flawed.ChangedBodyIsDuplicate,
	},
	{
		Name: "compare_as_float", Scenario: "same_json_written_otherwise",
		Kind:     "floats eat large integers",
		Harm:     "ids and amounts above 2^53 that differ are taken for the same",
		Receiver: flawed.CompareAsFloat,
	},
	{
		Name: "dedup_by_digest", Scenario: "same_json_written_otherwise",
		Kind: "identity by digest or memory", Law: "accepted_once",
		Harm:     "a retry whose keys stand in another order is a new event",
		Receiver: flawed.DedupByDigest, State: flawed.DedupByDigestState,
		Alter: flawed.DedupByDigestSchema,
	},
	{
		Name: "key_without_source", Scenario: "sources_stay_apart",
		Kind:     "key without tenant or endpoint",
		Harm:     "the second tenant's events are conflicts with the first one's, and lost",
		Receiver: flawed.KeyWithoutSource,
	},
	{
		Name: "missing_id_is_empty", Scenario: "invalid_leaves_no_trace",
		Kind:     "missing id stored as empty",
		Harm:     "after the first event without an id every other one is a conflict with it",
		Receiver: flawed.MissingIDIsEmpty, Alter: flawed.MissingIDIsEmptyAlter,
	},
	{
		Name: "id_truncated", Scenario: "long_ids_stay_apart",
		Kind:     "id longer than its column",
		Harm:     "events whose long ids begin alike are conflicts with the first, and lost",
		Receiver: flawed.IDTruncated,
	},
	{
		Name: "nul_comes_again", Scenario: "invalid_leaves_no_trace",
		Kind:     "NUL comes again for ever",
		Harm:     "one byte in a payload is retried for days and pages somebody each night",
		Receiver: flawed.NULComesAgain,
	},
	{
		Name: "lenient_shape", Scenario: "invalid_leaves_no_trace", Same: "nul_comes_again",
		Kind:     "NUL comes again for ever",
		Harm:     "whatever the database refuses is retried for days",
		Receiver: flawed.LenientShape,
	},
	{
		Name: "refusal_rolled_back", Scenario: "reused_event_id_other_object",
		Kind:     "refusal without a trace",
		Harm:     "nobody who looks into the conflicts of a sender finds any",
		Receiver: flawed.RefusalRolledBack, State: lab.ReferenceState,
	},
	{
		Name: "unconditional_advance", Scenario: "newer_then_older",
		Kind: "older overwrites newer", Law: "never_steps_back",
		Harm:     "a late event takes a paid order back to unpaid",
		Receiver: flawed.UnconditionalAdvance,
	},
	{
		Name: "advance_equal_revision", Scenario: "backfilled_projection",
		Kind:     "older overwrites newer",
		Harm:     "an event overwrites what was fetched from the provider's API",
		Receiver: flawed.AdvanceEqualRevision,
	},
	{
		Name: "advance_checked_before", Scenario: "older_waits_for_newer",
		Kind:     "older overwrites newer",
		Harm:     "under load a late event takes an object back, or fails",
		Receiver: flawed.AdvanceCheckedBefore,
	},
	{
		Name: "delete_forgets_revision", Scenario: "late_update_after_delete",
		Kind:     "late update after delete",
		Harm:     "a deleted customer is back, and gets mail",
		Receiver: flawed.DeleteForgetsRevision,
	},
	{
		Name: "projection_outside_transaction", Scenario: "connection_lost_before_commit",
		Kind: "two transactions where one is needed", Law: "projection_is_greatest",
		Harm:     "what dies in between is accepted for ever and never shown",
		Receiver: flawed.ProjectionOutside,
	},
	{
		Name: "projection_first", Scenario: "reused_event_id_other_revision",
		Kind: "two transactions where one is needed", Law: "projection_has_source",
		Harm:     "what the inbox refuses is shown all the same",
		Receiver: flawed.ProjectionFirst,
	},
	{
		Name: "ack_before_commit", Scenario: "commit_request_lost_fin",
		Kind: "acknowledged before the durable row", Law: "acked_is_stored",
		Harm:     "an event is acknowledged and lost whenever its commit fails",
		Receiver: flawed.AckBeforeCommit,
	},
	{
		Name: "default_isolation", Scenario: "serializable_by_default",
		Kind:     "deadlock or serialization failure shown",
		Harm:     "somebody sets a default for a role, and copies in flight begin to fail",
		Receiver: flawed.DefaultIsolation,
	},
	{
		Name: "deadlock_is_an_error", Scenario: "deadlock_receiver_retries",
		Kind:     "deadlock or serialization failure shown",
		Harm:     "every deadlock is an error page and a delivery that comes again",
		Receiver: flawed.DeadlockIsAnError,
	},
	{
		Name: "purged_too_early", Scenario: "retry_after_days",
		Kind:     "purge reopens the window",
		Harm:     "a sender's last retries are accepted as new events",
		Receiver: flawed.PurgedTooEarly, Alter: flawed.PurgedTooEarlyAlter,
	},
	{
		Name: "key_split_by_partition", Scenario: "retry_after_days",
		Kind: "partition splits the key", Law: "accepted_once",
		Harm:     "every event in flight at midnight can be accepted twice",
		Receiver: flawed.KeySplitByPartition, Alter: flawed.KeySplitByPartitionAlter,
	},
	{
		Name: "stale_plan_is_an_error", Scenario: "migration_between_deliveries",
		Kind:     "stale cached plan",
		Harm:     "after each migration every connection fails its next delivery",
		Receiver: flawed.StalePlanIsAnError,
	},
}

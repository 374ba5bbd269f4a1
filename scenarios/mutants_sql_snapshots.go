package scenarios

import "webhooklab/lab/mutation"

// snapshotMutants are the clauses that the receiver of snapshots rests on, those that begin every
// receiver's transaction, and those that write refusals down.
var snapshotMutants = []mutation.Mutant{
	sqlMutant("transaction", "level_of_the_role", "", "begin isolation level read committed", "begin"),
	sqlMutant("transaction", "lock_timeout_unset", "", "set local lock_timeout = 60000; ", ""),
	sqlMutant("transaction", "statement_timeout_unset", "",
		"set local statement_timeout = 60000; ", ""),
	sqlMutant("transaction", "idle_timeout_unset", "",
		"; set local idle_in_transaction_session_timeout = 60000", ""),

	sqlMutant("snapshots", "claim_without_conflict_clause", "INTO webhook_inbox",
		"ON CONFLICT DO NOTHING", ""),
	sqlMutant("snapshots", "claim_targets_event", "INTO webhook_inbox",
		"ON CONFLICT DO NOTHING", "ON CONFLICT (source, event_id) DO NOTHING"),
	sqlMutant("snapshots", "claim_targets_revision", "INTO webhook_inbox",
		"ON CONFLICT DO NOTHING", "ON CONFLICT (source, object_id, revision) DO NOTHING"),

	sqlMutant("snapshots", "look_up_any_object", "FROM webhook_inbox",
		"object_id = $3", "$3::text IS NOT NULL"),
	sqlMutant("snapshots", "look_up_any_revision", "FROM webhook_inbox",
		"AND revision = $4", "AND $4::bigint IS NOT NULL"),
	sqlMutant("snapshots", "look_up_any_snapshot", "FROM webhook_inbox",
		"AND snapshot = $5::jsonb", "AND $5::jsonb IS NOT NULL"),
	sqlMutant("snapshots", "look_up_compares_text", "FROM webhook_inbox",
		"AND snapshot = $5::jsonb", "AND snapshot::text = $5::text"),
	sqlMutant("snapshots", "look_up_in_any_source", "FROM webhook_inbox",
		"source = $1", "$1::text IS NOT NULL"),
	sqlMutant("snapshots", "look_up_any_event", "FROM webhook_inbox",
		"event_id = $2", "$2::text IS NOT NULL"),

	sqlMutant("snapshots", "advance_unconditionally", "INTO object_state",
		"WHERE current.revision < excluded.revision", ""),
	sqlMutant("snapshots", "advance_equal_revision", "INTO object_state",
		"current.revision < excluded.revision", "current.revision <= excluded.revision"),
	sqlMutant("snapshots", "advance_never", "INTO object_state",
		"current.revision < excluded.revision", "false"),
	sqlMutant("snapshots", "advance_revision_alone", "INTO object_state",
		"snapshot = excluded.snapshot", "snapshot = current.snapshot"),
	sqlMutant("snapshots", "advance_snapshot_alone", "INTO object_state",
		"revision = excluded.revision,", "revision = current.revision,"),

	sqlMutant("refusals", "record_without_conflict_clause", "INTO webhook_refusal",
		`ON CONFLICT (source, event_id, reason, digest) DO UPDATE
SET deliveries = known.deliveries + 1, -- a sender that insists adds no rows
    last_seen = clock_timestamp()
`, ""),
	sqlMutant("refusals", "record_once", "INTO webhook_refusal",
		"known.deliveries + 1", "known.deliveries"),
}

package scenarios

import "webhooklab/lab/mutation"

// receiptMutants are the clauses that accept receipts, and those of the atomic handler.
var receiptMutants = []mutation.Mutant{
	sqlMutant("atomic", "accept_without_conflict_clause", "'atomic', 'processing'",
		"ON CONFLICT DO NOTHING", ""),
	sqlMutant("leased", "accept_without_conflict_clause", "'leased', 'pending'",
		"ON CONFLICT DO NOTHING", ""),

	sqlMutant("receipts", "look_up_any_type", "FROM webhook_receipt",
		"event_type = $3", "$3::text IS NOT NULL"),
	sqlMutant("receipts", "look_up_any_payload", "FROM webhook_receipt",
		"without_varying(payload, $5::jsonb) = without_varying($4::jsonb, $5::jsonb)",
		"($4::jsonb, $5::jsonb) IS NOT NULL"),
	sqlMutant("receipts", "look_up_in_any_source", "without_varying",
		"source = $1", "$1::text IS NOT NULL"),
	sqlMutant("receipts", "look_up_any_event", "without_varying",
		"event_id = $2", "$2::text IS NOT NULL"),

	lawless("atomic", "retake_any_status", "actor = 'atomic'",
		"AND status = 'failed' -- decided", "-- decided"),
	sqlMutant("atomic", "retake_any_model", "actor = 'atomic'", "AND model = 'atomic'", ""),
	lawless("atomic", "retake_uncounted", "actor = 'atomic'",
		"attempts = attempts + 1", "attempts = attempts"),
	lawless("atomic", "retake_in_any_source", "actor = 'atomic'",
		"source = $1", "$1::text IS NOT NULL"),
	lawless("atomic", "retake_any_event", "actor = 'atomic'",
		"event_id = $2", "$2::text IS NOT NULL"),

	lawless("atomic", "processed_in_any_source", "change = $3", "source = $1", "$1::text IS NOT NULL"),
	lawless("atomic", "processed_any_event", "change = $3", "event_id = $2", "$2::text IS NOT NULL"),
	lawless("atomic", "failed_in_any_source", "SET status = 'failed'",
		"source = $1", "$1::text IS NOT NULL"),
	lawless("atomic", "failed_any_event", "SET status = 'failed'",
		"event_id = $2", "$2::text IS NOT NULL"),
	lawless("atomic", "rejected_in_any_source", "SET status = 'rejected'",
		"source = $1", "$1::text IS NOT NULL"),
	lawless("atomic", "rejected_any_event", "SET status = 'rejected'",
		"event_id = $2", "$2::text IS NOT NULL"),
}

// lawless is sqlMutant without the state machine, as unchecked is leaseMutant.
func lawless(of, name, in, old, new string) mutation.Mutant {
	m := sqlMutant(of, name, in, old, new)
	m.Alter = WithoutSteps
	return m
}

package scenarios

import (
	"slices"
	"strings"

	"webhooklab"
	"webhooklab/lab/mutation"
)

// leaseMutants are the clauses that take, keep, end and recover a lease, be it on a receipt or on a
// message: one template writes both.
var leaseMutants = slices.Concat(claimMutants, fenceMutants(), endMutants, recoverMutants)

func leaseMutant(name, in, old, new string) mutation.Mutant {
	return sqlMutant("leases", name, in, old, new)
}

// unchecked is leaseMutant on tables without the state machine, which would refuse by itself what
// the clause prevents: here the clause is the last guard.
func unchecked(name, in, old, new string) mutation.Mutant {
	m := leaseMutant(name, in, old, new)
	m.Alter = WithoutSteps
	return m
}

// WithoutSteps lets receipts and messages take any step. Steps are still written down.
var WithoutSteps = alters(mutation.FromText(webhooklab.Schema, slices.Concat(
	within("webhook_receipt", "FUNCTION step_receipt",
		[]cut{{"refuses nothing", "IF NOT allowed THEN", "IF false THEN"}}),
	within("outbox_message", "FUNCTION step_message",
		[]cut{{"refuses nothing", "END) THEN", "END) IS NOT NULL THEN"}}))))

func alters(all []mutation.Mutant) string {
	var sql []string
	for _, m := range all {
		sql = append(sql, m.Alter)
	}
	return strings.Join(sql, "\n")
}

// What tells the statements apart.
const (
	leaseClaim   = "lease_token = lease_token + 1"
	leaseRecover = "'the lease expired"
	leaseFence   = "AND lease_token = $1"
)

var claimMutants = []mutation.Mutant{
	unchecked("claim_uncounted", leaseClaim, "attempts = attempts + 1", "attempts = attempts"),
	unchecked("claim_without_token", "FOR UPDATE SKIP LOCKED", "lease_token = lease_token + 1",
		"lease_token = lease_token"),
	leaseMutant("claim_before_due", leaseClaim, "next_attempt_at <= (SELECT clock_timestamp())",
		"next_attempt_at IS NOT NULL"),
	leaseMutant("claim_latest_first", leaseClaim, "ORDER BY next_attempt_at",
		"ORDER BY next_attempt_at DESC"),
	leaseMutant("claim_without_order", leaseClaim, "ORDER BY next_attempt_at", ""),
	leaseMutant("claim_without_limit", leaseClaim, "LIMIT 1", ""),
	leaseMutant("claim_waits", leaseClaim, "FOR UPDATE SKIP LOCKED", "FOR UPDATE"),
	unchecked("claim_without_lock", leaseClaim, "FOR UPDATE SKIP LOCKED", ""),
}

// fenced are the statements that only the holder of a lease may run, by what tells them apart.
var fenced = []struct{ name, in string }{
	{"heartbeat", "\nSET lease_expires_at = "},
	{"finish", "failure_reason = NULL,\n    lease_expires_at = NULL"},
	{"fail", "THEN 'failed' ELSE 'dead' END"},
	{"reject", "SET status = 'rejected'"},
	{"release", "failure_reason = 'released'"},
}

// fenceMutants take one condition out of each fence.
func fenceMutants() (all []mutation.Mutant) {
	for _, f := range fenced {
		all = append(all,
			unchecked(f.name+"_by_anybody", f.in, leaseFence, "AND $1::bigint IS NOT NULL"),
			unchecked(f.name+"_after_the_end", f.in, "AND status = 'processing'\n", "\n"),
			unchecked(f.name+"_in_any_source", f.in, "source = $2", "$2::text IS NOT NULL"),
			unchecked(f.name+"_any_event", f.in, "event_id = $3", "$3::text IS NOT NULL"),
		)
	}
	return all
}

// backoff is what makes failed and lost receipts of the stories wait.
const backoff = "THEN clock_timestamp() + make_interval(secs => least(3600.000000 * " +
	"2 ^ (least(attempts, 60) - 1), 7200.000000) * (0.5 + random() / 2)) END"

// endMutants are clauses of what a lease ends with.
var endMutants = []mutation.Mutant{
	leaseMutant("fail_for_ever", leaseFence,
		"WHEN attempts < max_attempts THEN 'failed' ELSE 'dead' END", "WHEN true THEN 'failed' END"),
	leaseMutant("fail_without_backoff", leaseFence, backoff, "THEN clock_timestamp() END"),
	leaseMutant("release_to_the_end", "'released'", "next_attempt_at = received_at,",
		"next_attempt_at = clock_timestamp(),"),
	leaseMutant("release_costs_an_attempt", "'released'", "max_attempts = max_attempts + 1,", ""),
	leaseMutant("requeue_what_lives", "'requeued: '", "AND status = 'dead'", ""),
	leaseMutant("requeue_without_attempts", "'requeued: '", "max_attempts = attempts + $5,",
		"max_attempts = max_attempts + least($5::integer, 0),"),
	unchecked("requeue_any_event", "'requeued: '", "(source, event_id) = ($1, $2)",
		"(source, $2::text) = ($1, $2)"),
	unchecked("requeue_in_any_source", "'requeued: '", "(source, event_id) = ($1, $2)",
		"($1::text, event_id) = ($1, $2)"),
}

var recoverMutants = []mutation.Mutant{
	leaseMutant("recover_what_holds", leaseRecover,
		"AND lease_expires_at <= (SELECT clock_timestamp())", ""),
	leaseMutant("recover_latest_first", leaseRecover, "ORDER BY last_attempt_at",
		"ORDER BY last_attempt_at DESC"),
	leaseMutant("recover_any_status", leaseRecover,
		"WHERE model = 'leased' AND status = 'processing'\n      AND", "WHERE"),
	leaseMutant("recover_all_at_once", leaseRecover, "LIMIT $1",
		"LIMIT nullif($1::bigint, $1::bigint)"),
	leaseMutant("recover_waits", leaseRecover, "FOR UPDATE SKIP LOCKED", "FOR UPDATE"),
	leaseMutant("recover_without_lock", leaseRecover, "FOR UPDATE SKIP LOCKED", ""),
	leaseMutant("recover_without_backoff", leaseRecover, backoff, "THEN clock_timestamp() END"),
	leaseMutant("recover_for_ever", leaseRecover,
		"WHEN attempts < max_attempts THEN 'pending' ELSE 'dead' END", "WHEN true THEN 'pending' END"),
}

package scenarios

import "webhooklab/lab/mutation"

// A Listing is why a mutant needs no judge.
type Listing struct {
	Verdict mutation.Verdict
	Reason  string
}

// Listed are the mutants that nobody has to catch, by name.
var Listed = map[string]Listing{
	"schema:object_state.object_state_one_per_object": {mutation.Broken,
		"the receiver names this key as its conflict target, so without it nothing is accepted; " +
			"probe object_state_one_per_object shows that no other guard refuses a second state"},
	"schema:webhook_receipt.step_receipt requeued without attempts": {mutation.Equivalent,
		"the CHECKs say the same: dead has attempts = max_attempts, pending attempts < max_attempts"},
	"schema:outbox_message.step_message requeued without attempts": {mutation.Equivalent,
		"the CHECKs say the same: dead has attempts = max_attempts, pending attempts < max_attempts"},
	"schema:email_status.email_lock locks taken twice": {mutation.Equivalent,
		"a lock that its transaction holds is granted again at once; the clause saves the calls"},
	"sql:atomic.retake_any_model": {mutation.Equivalent,
		"the look-up before has seen the model, which webhook_receipt_arrival_is_final never lets " +
			"change"},
	"sql:email.advance_without_greatest": {mutation.Equivalent,
		"the WHERE lets no rank through but a greater one, and flags have none"},
	"sql:leases.claim_without_order": {mutation.Equivalent,
		"without other scans and sorts (see byIndex) the claim reads its index, which is in that order"},
	"sql:leases.recover_latest_first": {mutation.Equivalent,
		"which of the expired leases returns first is not promised; all of them do"},
	"sql:leases.recover_any_status": {mutation.Equivalent,
		"webhook_receipt_processing_is_leased says that only what is processed has an expiry; the " +
			"clause is there for the index"},
}

// listed applies the listings. What is listed and caught all the same stands as caught, and is for
// the test to mind.
func listed(f mutation.Finding) mutation.Finding {
	l, ok := Listed[f.Name]
	if !ok {
		return f
	}
	switch {
	case f.Verdict == mutation.Survived && l.Verdict == mutation.Equivalent:
		f.Verdict, f.Reason = mutation.Equivalent, l.Reason
	case f.Verdict == mutation.Broken && l.Verdict == mutation.Broken:
		f.Reason += ": " + l.Reason
	}
	return f
}

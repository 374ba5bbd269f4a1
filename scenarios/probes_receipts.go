package scenarios

import "slices"

// The lives of receipts, as SQL: each begins with a sound row.
var (
	pendingReceipt = later("webhook_receipt")
	leasedReceipt  = later("webhook_receipt", step(taken))
	processedOne   = later("webhook_receipt", step(taken), step(toProcessed))
	failedOne      = later("webhook_receipt", step(taken), step(toFailed))
	rejectedOne    = later("webhook_receipt", step(taken), step(toRejected))
	deadOne        = later("webhook_receipt", step(taken), step(toDead))
	ofAtomic       = []string{"model = 'atomic'", "status = 'processing'", "attempts = 1",
		"max_attempts = NULL", "next_attempt_at = NULL"}
	atomicReceipt = written("webhook_receipt", ofAtomic...)
)

// badStep is a step that the state machine alone refuses.
func badStep(of, name, given, set string) Probe {
	return Probe{
		Of: of, Name: of + ": " + name,
		Law:   of + " takes no step but those of its state machine, whoever writes",
		Given: given, Do: update(of, set), Refused: "23001",
	}
}

func badReceiptStep(name, given, set string) Probe {
	return badStep("webhook_receipt", name, given, set)
}

// badBirth is a row that no life begins with.
func badBirth(of, name string, changes ...string) Probe {
	return Probe{
		Of: of, Name: of + ": " + name,
		Law: of + " takes no step but those of its state machine, whoever writes",
		Do:  written(of, changes...), Refused: "23001",
	}
}

func bornAtomic(name string, changes ...string) Probe {
	return badBirth("webhook_receipt", name, slices.Concat(ofAtomic, changes)...)
}

var receiptSteps = []Probe{
	badBirth("webhook_receipt", "born failed",
		"status = 'failed'", "failure_reason = 'r'"),
	badBirth("webhook_receipt", "born tried", "attempts = 1"),
	bornAtomic("born processed", "status = 'processed'", "change = 'c'", "processed_at = now()"),
	bornAtomic("born tried twice", "attempts = 2"),

	badReceiptStep("claimed without an attempt", pendingReceipt, step(taken, "attempts = 0")),
	badReceiptStep("claimed for two attempts", pendingReceipt, step(taken, "attempts = 2")),
	badReceiptStep("claimed without a token", pendingReceipt, step(taken, "lease_token = 0")),
	badReceiptStep("claimed when processed", processedOne,
		step(taken, "change = NULL", "processed_at = NULL")),
	badReceiptStep("failed with another attempt", leasedReceipt, step(toFailed, "attempts = 0")),
	badReceiptStep("failed with another token", leasedReceipt, step(toFailed, "lease_token = 0")),
	badReceiptStep("changed when processed", processedOne, `change = 'other'`),
	badReceiptStep("changed when rejected", rejectedOne, `failure_reason = 'other'`),
	badReceiptStep("failed when processed", processedOne,
		step(toFailed, "change = NULL", "processed_at = NULL")),
	badReceiptStep("put back though atomic", atomicReceipt, `status = 'pending'`),
	badReceiptStep("failed when dead", deadOne, step(toFailed, "max_attempts = max_attempts + 1")),
}

var receiptProbes = slices.Concat(appendOnly("receipt_transition", "reason"), []Probe{
	badRow("webhook_receipt", "webhook_receipt_source_bounded", "source = ''"),
	badRow("webhook_receipt", "webhook_receipt_event_id_bounded", "event_id = ''"),
	badRow("webhook_receipt", "webhook_receipt_event_type_bounded", "event_type = ''"),
	badRow("webhook_receipt", "webhook_receipt_headers_are_object", "signature_headers = '[]'"),
	badRow("webhook_receipt", "webhook_receipt_actor_bounded", "actor = ''"),
	badRow("webhook_receipt", "webhook_receipt_claimable_is_due", "next_attempt_at = NULL"),
	badRow("webhook_receipt", "webhook_receipt_processing_is_leased", "lease_expires_at = now()"),
	badRow("webhook_receipt", "webhook_receipt_attempts_bounded",
		slices.Concat(ofAtomic, []string{"max_attempts = 3"})...),
	badUpdate("webhook_receipt", "webhook_receipt_change_bounded", leasedReceipt,
		step(toProcessed, "change = ''")),
	badUpdate("webhook_receipt", "webhook_receipt_reason_bounded", leasedReceipt,
		step(toFailed, "failure_reason = ''")),
	badUpdate("webhook_receipt", "webhook_receipt_status_known", leasedReceipt,
		`status = 'lost', lease_expires_at = NULL`),
	badUpdate("webhook_receipt", "webhook_receipt_status_known: dead too soon", leasedReceipt,
		step(toDead, "max_attempts = 5")),
	badUpdate("webhook_receipt", "webhook_receipt_status_known: dead and atomic", atomicReceipt,
		`status = 'dead', failure_reason = 'r'`),
	badUpdate("webhook_receipt", "webhook_receipt_attempts_bounded: too many",
		later("webhook_receipt", step(taken), step(toFailed), step(taken)), `max_attempts = 1`),
	restored("webhook_receipt", "webhook_receipt_attempts_bounded: atomic and untried",
		slices.Concat(ofAtomic, []string{"attempts = 0"})...),
	restored("webhook_receipt", "webhook_receipt_attempts_bounded: below none", "attempts = -1"),
	restored("webhook_receipt", "webhook_receipt_attempts_bounded: none allowed",
		"max_attempts = 0", "status = 'rejected'", "failure_reason = 'r'",
		"next_attempt_at = NULL"),
	badUpdate("webhook_receipt", "webhook_receipt_claimable_is_due: used up", leasedReceipt,
		step(toFailed, "max_attempts = 1")),
	badRow("webhook_receipt", "webhook_receipt_processing_is_leased: atomic",
		slices.Concat(ofAtomic, []string{"lease_expires_at = now()"})...),
	badUpdate("webhook_receipt", "webhook_receipt_result_has_reason: no change", leasedReceipt,
		step(toProcessed, "change = NULL")),
	badUpdate("webhook_receipt", "webhook_receipt_result_has_reason: no time", leasedReceipt,
		step(toProcessed, "processed_at = NULL")),
	badUpdate("webhook_receipt", "webhook_receipt_result_has_reason: why failed", leasedReceipt,
		step(toFailed, "failure_reason = NULL")),
	badUpdate("webhook_receipt", "webhook_receipt_result_has_reason: why rejected", leasedReceipt,
		step(toRejected, "failure_reason = NULL")),
	badUpdate("webhook_receipt", "webhook_receipt_result_has_reason: why dead", leasedReceipt,
		step(toDead, "failure_reason = NULL")),
	badRow("webhook_receipt", "webhook_receipt_result_has_reason: changed too soon", "change = 'c'"),
	badRow("webhook_receipt", "webhook_receipt_result_has_reason: timed too soon",
		"processed_at = now()"),

	refusedChange("webhook_receipt", "truncated", "", "TRUNCATE webhook_receipt"),
	{
		Of: "webhook_receipt", Name: "what varies", Do: `SELECT 1
WHERE without_varying('{"a": 1, "b": 2}', '[["a"]]') <> '{"b": 2}'`,
		Law: "what a sender may vary takes no part in what its event is",
	},
	{
		Of: "webhook_receipt", Name: "what varies is not there", Do: `SELECT 1
WHERE without_varying('{"a": [1], "b": 5}', '[["a", "x"], ["b", "y"], ["c", "z"]]')
	<> '{"a": [1], "b": 5}'`,
		Law: "what a sender may vary takes no part in what its event is",
	},
	{
		Of: "receipt_transition", Name: "receipt_transition: written by hand",
		Law: "what became of a receipt is written by its trigger alone",
		Do: `INSERT INTO receipt_transition (source, event_id, to_status, attempt, actor)
VALUES ('s', 'e', 'dead', 1, 'x')`,
		Refused: "23001",
	},
	{
		Of: "receipt_transition", Name: "receipt_transition: numbered by hand",
		Law: "no writer chooses the place of a step",
		Do: throughTrigger(`INSERT INTO receipt_transition
	(source, event_id, transition_no, to_status, attempt, actor)
VALUES ('s', 'e', 1, 'dead', 1, 'x')`),
		Refused: "428C9",
	},
}, arrivals(), purges("webhook_receipt", map[string]string{
	"pending": pendingReceipt, "processing": leasedReceipt, "failed": failedOne,
}))

// arrivals are changes of what arrived, each column by itself.
func arrivals() (all []Probe) {
	for _, c := range []column{
		{"source", "'other'"}, {"event_id", "'other'"}, {"model", "'leased'"},
		{"event_type", "'other'"}, {"payload", "'[]'"}, {"raw_body", "'other'"},
		{"signature_headers", `'{"a": "b"}'`}, {"received_at", "now()"},
	} {
		all = append(all, refusedChange("webhook_receipt", "another "+c.name, pendingReceipt,
			update("webhook_receipt", c.name+" = "+c.value)))
	}
	return all
}

// purges are rows that somebody still has to work on, deleted.
func purges(of string, unfinished map[string]string) (all []Probe) {
	for status, given := range unfinished {
		all = append(all, Probe{
			Of: of, Name: of + ": deleted when " + status,
			Law:   "what nobody has finished is never purged from " + of,
			Given: given, Do: "DELETE FROM " + of + ofSoundRow(of), Refused: "23001",
		})
	}
	return all
}

// restored is a bad row of somebody who fills a table with its triggers off, as a restore or a purge
// may: then the CHECKs are what is left.
func restored(of, check string, changes ...string) Probe {
	p := badRow(of, check, changes...)
	p.Given = "ALTER TABLE " + of + " DISABLE TRIGGER USER"
	return p
}

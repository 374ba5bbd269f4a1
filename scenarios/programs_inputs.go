package scenarios

import (
	"context"
	"strings"

	"webhooklab/lab"
)

// What senders send and time brings, in one session most of the time: some sins need an input, not
// a race. Each program's law is that of the story which is told about the same input.

// SnapshotInputs are ids, states and times that a receiver of snapshots has to cope with.
var SnapshotInputs = []lab.Program{
	{Name: "copies_in_turn", Law: ExactRetry.Law,
		Sessions: []lab.Actor{actor("sender", paid, paid, paid)},
		Answers:  []string{"applied duplicate duplicate"}},
	{Name: "longest_ids", Law: LongIDsStayApart.Law,
		Sessions: []lab.Actor{actor("sender", longID("1", 1), longID("2", 2))},
		Answers:  []string{"applied applied"}},
	{Name: "deleted_object", Law: LateUpdateAfterDelete.Law,
		Sessions: []lab.Actor{actor("sender", revision(1), deleted(3), revision(2))},
		Answers:  []string{"applied applied stale"}},
	{Name: "refused_twice", Law: ReusedEventIDOtherObject.Law,
		Sessions: []lab.Actor{actor("sender", paid, paidElsewhere, paidElsewhere)},
		Answers:  []string{"applied reused event id reused event id"},
		After:    func(l *lab.Lab) { l.Refused(1) }},
	{Name: "days_later", Law: RetryAfterDays.Law, Reference: true, Before: daysBefore,
		Sessions: []lab.Actor{actor("sender", paid)},
		Answers:  []string{"duplicate"}},
	{Name: "migrated_meanwhile", Law: MigrationBetweenDeliveries.Law, Reference: true,
		Sessions: []lab.Actor{does("sender", lab.Delivers(paid), lab.Delivers(paid),
			lab.RunsSQL(`ALTER TABLE webhook_inbox ADD COLUMN IF NOT EXISTS note text`),
			lab.Delivers(paid), lab.RunsSQL(`ALTER TABLE webhook_inbox DROP COLUMN note`),
			lab.Delivers(revision(2)))},
		Answers: []string{"applied duplicate done duplicate done applied"}},
}

// longID is as long as an id may be, and only its end tells it from others.
func longID(end string, n int64) lab.Delivery {
	return variant(revision(n), func(d *lab.Delivery) {
		d.EventID = strings.Repeat("e", 1023) + end
	})
}

func deleted(n int64) lab.Delivery {
	return variant(revision(n), func(d *lab.Delivery) { d.Snapshot = []byte(`{"deleted": true}`) })
}

// daysBefore has the event accepted almost three days ago.
func daysBefore(l *lab.Lab) {
	source := l.Source("shop")
	l.Quietly(`
INSERT INTO webhook_inbox (source, event_id, object_id, revision, snapshot, received_at)
VALUES ($1, 'evt_paid', 'order', 1, '{"value": true}', clock_timestamp() - interval '71 hours')`,
		source)
	l.Quietly(`
INSERT INTO object_state (source, object_id, revision, snapshot)
VALUES ($1, 'order', 1, '{"value": true}')`, source)
}

// AtomicInputs are changes that fail, and events that nobody handles.
var AtomicInputs = []lab.Program{
	{Name: "atomic_failing", Law: AtomicFailureIsRetried.Law, Before: storm, Retried: true,
		Sessions: []lab.Actor{does("sender", lab.Delivers(order("evt", "flaky")), calms,
			lab.Delivers(order("evt", "flaky")))},
		Answers: []string{"unknown done processed"},
		After:   func(l *lab.Lab) { l.Shows(1, "effects") }},
	{Name: "atomic_unhandled", Law: AtomicIgnoredType.Law,
		Sessions: []lab.Actor{actor("sender", order("evt", "viewed"), order("evt", "viewed"))},
		Answers:  []string{"ignored duplicate"}},
}

var (
	calms = lab.RunsSQL(`DELETE FROM weather WHERE source = '{shop}'`)
	waits = lab.RunsSQL(`UPDATE webhook_receipt SET next_attempt_at = clock_timestamp()
 WHERE next_attempt_at > clock_timestamp()`)
	expires = lab.RunsSQL(`UPDATE webhook_receipt SET lease_expires_at = clock_timestamp()
 WHERE status = 'processing'`)

	claimsOne = lab.Does("claim", clerk(Clerk.Claim))
)

// LeasedInputs are receipts that fail or kill, and workers that stay away or take their time.
var LeasedInputs = []lab.Program{
	{Name: "leased_oldest_first", Law: LeasedWorkersTakeTheirOwn.Law, After: drained,
		Sessions: []lab.Actor{does("sender", lab.Delivers(order("evt_1", "paid")),
			lab.Delivers(order("evt_2", "viewed")), worksOnce, worksOnce)},
		Answers: []string{"accepted accepted processed ignored"}},
	{Name: "leased_failing", Law: LeasedFailureIsRetried.Law, Reference: true, Before: stormed,
		Sessions: []lab.Actor{does("worker", worksOnce, worksOnce, calms, waits, worksOnce)},
		Answers:  []string{"failed idle done done processed"}},
	{Name: "leased_failing_for_ever", Law: LeasedDeadAfterLastAttempt.Law, Reference: true,
		Before: stormed,
		Sessions: []lab.Actor{does("worker", worksOnce, waits, worksOnce, waits, worksOnce, waits,
			worksOnce)},
		Answers: []string{"failed done failed done dead done idle"}},
	{Name: "leased_left_behind", Law: LeasedCrashAfterClaim.Law, Reference: true,
		Before:   claimedAndExpired,
		Sessions: []lab.Actor{does("worker", recoversOnce, worksOnce, waits, worksOnce)},
		Answers:  []string{"recovered 1 idle done processed"}},
	{Name: "leased_killed_each_time", Law: LeasedKilledByItsPayload.Law, Reference: true,
		Before: before(order("evt", "paid")),
		Sessions: []lab.Actor{does("worker", claimsOne, expires, recoversOnce, waits,
			claimsOne, expires, recoversOnce, waits, claimsOne, expires, recoversOnce, waits, claimsOne)},
		Answers: []string{"claimed done recovered 1 done claimed done recovered 1 done " +
			"claimed done recovered 1 done idle"}},
	{Name: "leased_completion_meets_recovery", Law: LeasedCompletedBeforeRecovery.Law,
		Reference: true, Before: claimedAndExpired, After: drained,
		Sessions: []lab.Actor{does("paused", completesOwn), does("other", recoversOnce)},
		Answers:  []string{"processed recovered 0", "lease lost recovered 1"}},
	{Name: "leased_slow_work", Law: LeasedSlowChange.Law, After: drained,
		Before:   before(order("evt", "paid")),
		Sessions: []lab.Actor{does("slow", claimsOne, completesOwn), does("keeper", recoversOnce)},
		Answers:  []string{"claimed processed recovered 0"}},
}

// stormed leaves an order whose change will fail.
func stormed(l *lab.Lab) {
	storm(l)
	before(order("evt", "flaky"))(l)
}

// OutboxInputs are changes that fail after all, and changes that commit late.
var OutboxInputs = []lab.Program{
	{Name: "outbox_cancelled", Law: OutboxRolledBackSendsNothing.Law, Retried: true, After: posted,
		Sessions: []lab.Actor{actor("shop", order("evt", "cancelled"))},
		Answers:  []string{"unknown"}},
	{Name: "outbox_two_changes", Law: OutboxCommitsLate.Law, After: allPosted,
		Sessions: []lab.Actor{actor("one", order("evt_1", "paid")),
			does("other", lab.Delivers(order("evt_2", "paid")), dispatchesOnce)},
		Answers: []string{"done done sent"}},
}

// allPosted: whatever was enqueued is sent in the end.
func allPosted(l *lab.Lab) {
	posted(l)
	l.Rows(0, `SELECT FROM outbox_message WHERE status <> 'sent' AND topic = '`+l.Source("shop")+`'`)
}

// DoorInputs are the ways in which honest senders write, sign and send.
var DoorInputs = []lab.Program{
	{Name: "door_copies_in_turn", Law: DoorApplied.Law,
		Sessions: []lab.Actor{actor("sender", paid, paid)},
		Answers:  []string{"applied duplicate"}},
	{Name: "door_other_spelling", Law: DoorWrittenOtherwise.Law,
		Sessions: []lab.Actor{does("sender", postsTo("/hooks", doorSecret, ` { "revision": 1,
  "snapshot": {"value": true}, "object_id": "order", "event_id": "evt_paid" }`),
			lab.Delivers(paid))},
		Answers: []string{"applied duplicate"}},
	{Name: "door_two_signatures", Law: DoorRotatedSecret.Law,
		Sessions: []lab.Actor{does("sender",
			postsTo("/hooks", doorSecret+" whsec_of_next_year", string(snapshotBody(revision(1)))),
			postsTo("/hooks", "whsec_of_next_year "+doorSecret, string(snapshotBody(revision(2)))))},
		Answers: []string{"applied applied"}},
	{Name: "door_foreign_source", Law: DoorSourceInBody.Law,
		Sessions: []lab.Actor{does("sender", postsTo("/hooks", doorSecret, `{"source": "{bank}",
  "event_id": "evt_paid", "object_id": "order", "revision": 1, "snapshot": {"value": true}}`),
			lab.Delivers(paid))},
		Answers: []string{"applied duplicate"}},
	{Name: "door_two_addresses", Law: DoorMigration.Law,
		Sessions: []lab.Actor{
			does("old", postsTo("/old", doorSecret, string(snapshotBody(paid)))), actor("moved", paid)},
		Answers: []string{"applied duplicate", "duplicate applied"}},
	{Name: "door_batches", Law: DoorBatch.Law,
		Sessions: []lab.Actor{does("sender", postsTo("/batch", doorSecret, "["+
			string(snapshotBody(revision(1)))+`, {"event_id": "evt_bad"}, `+
			string(snapshotBody(revision(2)))+", "+string(snapshotBody(revision(1)))+"]"))},
		Answers: []string{"batch"},
		After: func(l *lab.Lab) {
			l.Stored(2)
			l.Refused(1)
		}},
}

// postsTo sends these bytes to a path of the shop's, signed by these secrets. {bank} in them is the
// run's name of another source.
func postsTo(path, secrets, body string) lab.Act {
	return lab.DoesWith("post to "+path, func(l *lab.Lab) func(
		context.Context, lab.Receiver) (lab.Answer, error) {
		source := l.Source("shop")
		text := []byte(strings.ReplaceAll(body, "{bank}", l.Source("bank")))
		return func(ctx context.Context, r lab.Receiver) (lab.Answer, error) {
			return r.(Sender).Post(ctx, source, path, secrets, text)
		}
	})
}

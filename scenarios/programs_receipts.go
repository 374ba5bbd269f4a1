package scenarios

import (
	"context"

	"webhooklab/lab"
)

const (
	onceDone  = "one event makes one business change, and its receipt says so"
	notFenced = "a worker that outlived its lease changes nothing"
	takenOnce = "a receipt is processed by one worker at a time, and once"
)

// reads is a person who looks into a table meanwhile.
func reads(table string) lab.Actor {
	return does("reader", lab.RunsSQL("SELECT count(*) FROM "+table))
}

// AtomicPrograms are the deliveries that can meet in the atomic handler.
var AtomicPrograms = []lab.Program{
	{Name: "atomic_two_copies", Law: onceDone,
		Sessions: []lab.Actor{
			actor("first", order("evt", "paid")),
			actor("retry", order("evt", "paid")),
		},
		Answers: []string{"processed duplicate", "duplicate processed"}},
	{Name: "atomic_two_events", Law: onceDone,
		Sessions: []lab.Actor{
			actor("one", order("evt_1", "paid")),
			actor("other", order("evt_2", "paid")),
		},
		Answers: []string{"processed processed"}},
	{Name: "atomic_reused_id", Law: oneID,
		Sessions: []lab.Actor{
			actor("one", order("evt", "paid")),
			actor("other", order("evt", "shipped")),
		},
		Answers: []string{"processed reused event id", "reused event id processed"}},
	{Name: "atomic_failure_and_copy", Law: "the record of a failure never overwrites a success",
		Before: storm, Retried: true,
		Sessions: []lab.Actor{actor("first", order("evt", "flaky")),
			does("retry", lab.RunsSQL(`DELETE FROM weather WHERE source = '{shop}'`),
				lab.Delivers(order("evt", "flaky")))},
		Answers: []string{"unknown done processed", "duplicate done processed",
			"processed done duplicate"},
		After: func(l *lab.Lab) {
			calm(l)
			l.Session("last").Send(order("evt", "flaky"))
		}},
	{Name: "atomic_rejected_copies", Law: "a permanent failure is acknowledged and never runs again",
		Sessions: []lab.Actor{actor("first", order("evt", "unpayable")),
			actor("retry", order("evt", "unpayable"))},
		Answers: []string{"rejected duplicate", "duplicate rejected"}},
	{Name: "atomic_copies_and_reader", Law: onceDone,
		Sessions: []lab.Actor{actor("first", order("evt", "paid")), actor("retry", order("evt", "paid")),
			reads("webhook_receipt")},
		Answers: []string{"processed duplicate done", "duplicate processed done"}},
	{Name: "atomic_three_copies", Law: onceDone,
		Sessions: []lab.Actor{actor("one", order("evt", "paid")), actor("two", order("evt", "paid")),
			actor("three", order("evt", "paid"))},
		Answers: []string{"processed duplicate duplicate", "duplicate processed duplicate",
			"duplicate duplicate processed"}},
	{Name: "atomic_one_by_one", Law: onceDone,
		Sessions: []lab.Actor{actor("sender", order("evt_1", "paid"), order("evt_2", "viewed"),
			order("evt_1", "paid"), order("evt_3", "unpayable"), order("evt_3", "unpayable"))},
		Answers: []string{"processed ignored duplicate rejected duplicate"}},
}

// LeasedPrograms are what intake, workers and recovery can do to each other.
var LeasedPrograms = []lab.Program{
	{Name: "leased_two_copies", Law: onceDone, After: drained,
		Sessions: []lab.Actor{
			actor("first", order("evt", "paid")),
			actor("retry", order("evt", "paid")),
		},
		Answers: []string{"accepted duplicate", "duplicate accepted"}},
	{Name: "leased_two_workers_one_receipt", Law: takenOnce, After: drained,
		Before:   before(order("evt", "paid")),
		Sessions: []lab.Actor{does("one", worksOnce), does("other", worksOnce)},
		Answers:  []string{"processed idle", "idle processed"}},
	{Name: "leased_two_workers_two_receipts", Law: LeasedWorkersShareNothing.Law, NoWaits: true,
		After:    drained,
		Before:   before(order("evt_1", "paid"), order("evt_2", "paid")),
		Sessions: []lab.Actor{does("one", worksOnce), does("other", worksOnce)},
		Answers:  []string{"processed processed"}},
	{Name: "leased_intake_and_worker", Law: takenOnce, After: drained,
		Sessions: []lab.Actor{actor("sender", order("evt", "paid")), does("worker", worksOnce)},
		Answers:  []string{"accepted processed", "accepted idle"}},
	{Name: "leased_expired_and_recovery", Law: notFenced, Reference: true, Before: claimedAndExpired,
		After:    drained,
		Sessions: []lab.Actor{does("paused", completesOwn), does("other", recoversOnce, worksOnce)},
		Answers:  []string{"processed recovered 0 idle", "lease lost recovered 1 idle"}},
	{Name: "leased_failure_and_recovery", Law: notFenced, Reference: true, Before: claimedAndExpired,
		After:    drained,
		Sessions: []lab.Actor{does("paused", failsOwn), does("other", recoversOnce, worksOnce)},
		Answers:  []string{"failed recovered 0 idle", "lease lost recovered 1 idle"}},
	{Name: "leased_heartbeat_and_recovery", Law: notFenced, Reference: true,
		Before: claimedAndExpired, After: drained,
		Sessions: []lab.Actor{does("paused", beatsOwn), does("other", recoversOnce, worksOnce)},
		Answers:  []string{"heartbeat recovered 0 idle", "lease lost recovered 1 idle"}},
	{Name: "leased_release_and_recovery", Law: notFenced, Reference: true,
		Before: claimedAndExpired, After: drained,
		Sessions: []lab.Actor{does("paused", releasesOwn), does("other", recoversOnce, worksOnce)},
		Answers: []string{"released recovered 0 processed", "released recovered 0 idle",
			"lease lost recovered 1 idle"}},
	{Name: "leased_workers_and_clock", Law: notFenced, After: drained, Reference: true,
		Before: before(order("evt", "paid")),
		Sessions: []lab.Actor{does("one", worksOnce), does("other", recoversOnce),
			does("clock", lab.RunsSQL(`UPDATE webhook_receipt SET lease_expires_at = clock_timestamp()
 WHERE status = 'processing'`))},
		Answers: []string{"processed recovered 0 done", "lease lost recovered 1 done"}},
	{Name: "leased_two_copies_and_a_worker", Law: takenOnce, After: drained,
		Sessions: []lab.Actor{actor("first", order("evt", "paid")),
			actor("retry", order("evt", "paid")), does("worker", worksOnce)},
		Answers: []string{"accepted duplicate processed", "accepted duplicate idle",
			"duplicate accepted processed", "duplicate accepted idle"}},
	{Name: "leased_one_by_one", Law: onceDone, After: drained,
		Sessions: []lab.Actor{does("sender", lab.Delivers(order("evt_1", "paid")),
			lab.Delivers(order("evt_2", "unpayable")), worksOnce, worksOnce, worksOnce,
			lab.Delivers(order("evt_1", "paid")))},
		Answers: []string{"accepted accepted processed rejected idle duplicate"}},
}

var (
	worksOnce    = lab.Does("work", clerk(Clerk.Work))
	recoversOnce = lab.Does("recover", clerk(Clerk.Recover))
	completesOwn = lab.Does("complete", clerk(Clerk.Complete))
	failsOwn     = lab.Does("fail", clerk(Clerk.Fail))
	beatsOwn     = lab.Does("heartbeat", clerk(Clerk.Heartbeat))
	releasesOwn  = lab.Does("release", clerk(Clerk.Release))
)

// claimedAndExpired leaves the session paused with a lease that has run out.
func claimedAndExpired(l *lab.Lab) {
	l.Session("before").Send(order("evt", "paid"))
	l.Session("paused").Does("claim", clerk(Clerk.Claim))
	l.Quietly(`UPDATE webhook_receipt SET lease_expires_at = clock_timestamp()
 WHERE status = 'processing'`)
}

// drained lets time pass until nothing is left to do: leases and backoffs end, workers work.
func drained(l *lab.Lab) {
	for range 8 {
		timePasses(l, "webhook_receipt")
		last := l.Session("last")
		last.Does("recover", clerk(Clerk.Recover))
		timePasses(l, "webhook_receipt") // what was recovered waits out a backoff
		if last.Does("work", clerk(Clerk.Work)) == idle {
			return
		}
	}
}

// timePasses ends every lease and every backoff.
func timePasses(l *lab.Lab, table string) {
	l.Quietly(`
UPDATE ` + table + `
   SET lease_expires_at = CASE WHEN status = 'processing' THEN clock_timestamp() END,
       next_attempt_at = CASE WHEN next_attempt_at > clock_timestamp() THEN clock_timestamp()
                              ELSE next_attempt_at END
 WHERE status IN ('pending', 'failed', 'processing')`)
}

// OutboxPrograms are what changes and dispatchers can do to each other.
var OutboxPrograms = []lab.Program{
	{Name: "outbox_two_copies", Law: "a key stands for one message",
		Sessions: []lab.Actor{
			actor("first", order("evt", "paid")),
			actor("other", order("evt_2", "paid")),
		},
		Answers: []string{"done done"}, After: posted},
	{Name: "outbox_change_and_dispatcher", Law: "a message is sent once its change is committed",
		Sessions: []lab.Actor{actor("shop", order("evt", "paid")), does("post", dispatchesOnce)},
		Answers:  []string{"done sent", "done idle"}, After: posted},
	{Name: "outbox_two_dispatchers", Law: "a message is taken by one dispatcher at a time",
		Before:   before(order("evt", "paid")),
		Sessions: []lab.Actor{does("one", dispatchesOnce), does("other", dispatchesOnce)},
		Answers:  []string{"sent idle", "idle sent"}, After: posted},
	{Name: "outbox_dispatchers_and_reader", Law: "a message is taken by one dispatcher at a time",
		Before: before(order("evt", "paid")), After: posted,
		Sessions: []lab.Actor{does("one", dispatchesOnce), does("other", recoversMailOnce),
			reads("outbox_message")},
		Answers: []string{"sent recovered 0 done"}},
	{Name: "outbox_change_and_two_dispatchers", Law: "a message is sent once its change is committed",
		Sessions: []lab.Actor{actor("shop", order("evt", "paid")), does("one", dispatchesOnce),
			does("other", dispatchesOnce)},
		Answers: []string{"done sent idle", "done idle sent", "done idle idle"}, After: posted},
	{Name: "outbox_dispatcher_and_recovery", Reference: true,
		Law:    "a dispatcher that outlived its lease marks nothing",
		Before: before(order("evt", "paid")), After: posted,
		Sessions: []lab.Actor{does("paused", dispatchesOnce),
			does("other", lab.RunsSQL(`UPDATE outbox_message SET lease_expires_at = clock_timestamp()
 WHERE status = 'processing'`), recoversMailOnce, dispatchesOnce)},
		Answers: []string{"sent done recovered 0 idle", "idle done recovered 0 sent",
			"lease lost done recovered 1 idle"}},
}

var (
	dispatchesOnce   = lab.Does("dispatch", poster(Poster.Dispatch))
	recoversMailOnce = lab.Does("recover", poster(Poster.Recover))
)

// posted lets time pass until no message is left to send.
func posted(l *lab.Lab) {
	for range 8 {
		timePasses(l, "outbox_message")
		last := l.Session("last")
		last.Does("recover", poster(Poster.Recover))
		timePasses(l, "outbox_message")
		if last.Does("dispatch", poster(Poster.Dispatch)) == idle {
			return
		}
	}
}

// DoorPrograms are the deliveries that can meet behind one door.
var DoorPrograms = []lab.Program{
	{Name: "door_two_copies", Law: oneChange,
		Sessions: []lab.Actor{actor("first", paid), actor("retry", paid)},
		Answers:  []string{"applied duplicate", "duplicate applied"}},
	{Name: "door_two_revisions", Law: greatest,
		Sessions: []lab.Actor{actor("older", revision(1)), actor("newer", revision(2))},
		Answers:  []string{"applied applied", "stale applied"}},
	{Name: "door_reused_id", Law: oneID,
		Sessions: []lab.Actor{actor("one", paid), actor("other", paidOtherwise)},
		Answers:  []string{"applied 409", "409 applied"}},
	{Name: "door_copies_and_reader", Law: oneChange,
		Sessions: []lab.Actor{actor("first", paid), actor("retry", paid), reads("webhook_inbox")},
		Answers:  []string{"applied duplicate done", "duplicate applied done"}},
	{Name: "door_three_copies", Law: oneChange,
		Sessions: []lab.Actor{actor("one", paid), actor("two", paid), actor("three", paid)},
		Answers: []string{"applied duplicate duplicate", "duplicate applied duplicate",
			"duplicate duplicate applied"}},
	{Name: "door_forged", Law: DoorForgedFirst.Law,
		Sessions: []lab.Actor{does("forger", forges), actor("sender", paid)},
		Answers:  []string{"401 applied"}},
}

// forges posts a delivery that somebody without the secret has signed.
var forges = lab.DoesWith("deliver a forgery of evt_paid", func(l *lab.Lab) func(
	context.Context, lab.Receiver) (lab.Answer, error) {
	source := l.Source("shop")
	return func(ctx context.Context, r lab.Receiver) (lab.Answer, error) {
		return r.(Sender).Post(ctx, source, "/hooks", "whsec_guessed", bodyOf(paid))
	}
})

package scenarios

import (
	"slices"

	"webhooklab/lab"
	"webhooklab/lab/postgres"
)

const (
	oneChange   = "one event makes one change, however many copies are in flight"
	oneID       = "an event id stands for one content, whoever comes first"
	greatest    = "any order of concurrent revisions ends at the greatest, all of them accepted"
	oneRevision = "a revision belongs to one event, whoever comes first"
)

// SnapshotPrograms are the pairs of deliveries that can meet, single ones that are hard to read,
// and three sessions where two hide what a third shows.
var SnapshotPrograms = []lab.Program{
	{Name: "two_copies", Law: oneChange,
		Sessions: []lab.Actor{actor("first", paid), actor("retry", paid)},
		Answers:  []string{"applied duplicate", "duplicate applied"}},
	{Name: "two_revisions", Law: greatest,
		Sessions: []lab.Actor{actor("older", revision(1)), actor("newer", revision(2))},
		Answers:  []string{"applied applied", "stale applied"}},
	{Name: "reused_id_other_snapshot", Law: oneID,
		Sessions: []lab.Actor{actor("one", paid), actor("other", paidOtherwise)},
		Answers:  []string{"applied reused event id", "reused event id applied"}},
	{Name: "reused_id_other_revision", Law: oneID,
		Sessions: []lab.Actor{actor("one", paid), actor("other", paidAtTwo)},
		Answers:  []string{"applied reused event id", "reused event id applied"}},
	{Name: "reused_id_other_object", Law: oneID,
		Sessions: []lab.Actor{actor("one", paid), actor("other", paidElsewhere)},
		Answers:  []string{"applied reused event id", "reused event id applied"}},
	{Name: "one_revision_two_events", Law: oneRevision,
		Sessions: []lab.Actor{actor("one", paid), actor("other", paidAgain)},
		Answers:  []string{"applied reused revision", "reused revision applied"}},
	{Name: "two_sources", Law: SourcesStayApart.Law,
		Sessions: []lab.Actor{actor("shop", paid), actor("market", paidOnMarket)},
		Answers:  []string{"applied applied"}},
	{Name: "two_objects", Law: "events of different objects have nothing to do with each other",
		Sessions: []lab.Actor{actor("one", revision(1)), actor("other", apart)},
		Answers:  []string{"applied applied"}},
	{Name: "copy_and_next", Law: greatest, Before: before(revision(1)),
		Sessions: []lab.Actor{actor("copy", revision(1)), actor("next", revision(2))},
		Answers:  []string{"duplicate applied"}},
	{Name: "late_and_next", Law: greatest, Before: before(revision(2)),
		Sessions: []lab.Actor{actor("late", revision(1)), actor("next", revision(3))},
		Answers:  []string{"stale applied"}},
	{Name: "backfilled", Law: "only a strictly greater revision advances the state",
		Reference: true, Before: backfill(3),
		Sessions: []lab.Actor{actor("same", revision(3)), actor("next", revision(4))},
		Answers:  []string{"stale applied"}},
	{Name: "serializable_default", Law: SerializableByDefault.Law,
		Sessions: []lab.Actor{with(actor("first", paid), strict), with(actor("retry", paid), strict)},
		Answers:  []string{"applied duplicate", "duplicate applied"}},
	{Name: "outside_writer", Law: "a deadlock is retried inside: nothing is lost, nobody sees an error",
		Reference: true, Needs: []postgres.Ability{postgres.DeadlockTimeout},
		Before: before(revision(1)),
		Sessions: []lab.Actor{actor("receiver", revision(2)),
			does("writer", lab.RunsSQL(rowThenKeyOf...))},
		Answers: []string{"applied ERROR 23505", "applied ERROR 40P01", "duplicate done"}},
	{Name: "outside_writer_rolls_back", Law: DeadlockWriterRollsBack.Law,
		Reference: true, Needs: []postgres.Ability{postgres.DeadlockTimeout},
		Before: before(revision(1)),
		Sessions: []lab.Actor{actor("receiver", revision(2)),
			does("writer", lab.RunsSQL(rowThenKeyUndone...))},
		Answers: []string{"applied done", "applied ERROR 23505", "applied ERROR 40P01"}},
	{Name: "json_written_otherwise", Law: SameJSONWrittenOtherwise.Law,
		Sessions: []lab.Actor{actor("sender", jsonAs(jsonOne), jsonAs(jsonTwo), jsonAs(jsonThree))},
		Answers:  []string{"applied duplicate reused event id"}},
	{Name: "broken_shapes", Law: InvalidLeavesNoTrace.Law,
		Sessions: []lab.Actor{actor("sender", append(brokenShapes(), paid)...)},
		Answers: []string{"invalid invalid invalid invalid invalid invalid invalid invalid invalid " +
			"invalid invalid invalid invalid invalid applied"}},
	{Name: "one_by_one", Law: greatest,
		Sessions: []lab.Actor{actor("sender", revision(2), revision(1), revision(2), revision(4))},
		Answers:  []string{"applied stale duplicate applied"}},
	{Name: "three_revisions", Law: greatest,
		Sessions: []lab.Actor{actor("one", revision(1)), actor("two", revision(2)),
			actor("three", revision(3))},
		Answers: []string{"applied applied applied", "applied stale applied", "stale applied applied",
			"stale stale applied"}},
	{Name: "three_copies", Law: oneChange,
		Sessions: []lab.Actor{actor("one", paid), actor("two", paid), actor("three", paid)},
		Answers: []string{"applied duplicate duplicate", "duplicate applied duplicate",
			"duplicate duplicate applied"}},
	{Name: "two_copies_and_a_revision", Law: oneChange,
		Sessions: []lab.Actor{actor("first", revision(1)), actor("retry", revision(1)),
			actor("newer", revision(2))},
		Answers: []string{"applied duplicate applied", "duplicate applied applied",
			"stale duplicate applied", "duplicate stale applied"}},
}

var (
	paidOtherwise = variant(paid, func(d *lab.Delivery) { d.Snapshot = []byte(`{"value": 1}`) })
	paidAtTwo     = variant(paid, func(d *lab.Delivery) { d.Revision = 2 })
	paidElsewhere = variant(paid, func(d *lab.Delivery) { d.ObjectID = "invoice" })
	paidAgain     = variant(paid, func(d *lab.Delivery) { d.EventID = "evt_again" })
	paidOnMarket  = variant(paid, func(d *lab.Delivery) { d.Source = "market" })
	apart         = variant(revision(2), func(d *lab.Delivery) { d.ObjectID = "invoice" })

	strict = lab.Setting{Name: "default_transaction_isolation", Value: "serializable"}
)

// The spellings of one content, and one that differs in its last digit.
const (
	jsonOne   = `{"a": 1, "b": [100, "é", 9007199254740993]}`
	jsonTwo   = `{"b":[1e2,"\u00e9",9007199254740993],"a":1.0}`
	jsonThree = `{"a": 1, "b": [100, "é", 9007199254740992]}`
)

func jsonAs(snapshot string) lab.Delivery {
	return variant(paid, func(d *lab.Delivery) { d.Snapshot = []byte(snapshot) })
}

// rowThenKeyOf is a writer that takes the object's row first and the inbox key second.
var rowThenKeyOf = []string{
	"BEGIN",
	`UPDATE object_state SET revision = 2, snapshot = '{"total": 20}'
  WHERE source = '{shop}' AND object_id = 'order' AND revision < 2`,
	`INSERT INTO webhook_inbox (source, event_id, object_id, revision, snapshot)
 VALUES ('{shop}', 'evt_2', 'order', 2, '{"total": 20}')`,
	"COMMIT",
}

// rowThenKeyUndone thinks better of it in the end.
var rowThenKeyUndone = append(slices.Clone(rowThenKeyOf[:len(rowThenKeyOf)-1]), "ROLLBACK")

// backfill puts the object at a revision of which no event was accepted.
func backfill(n int) func(*lab.Lab) {
	return func(l *lab.Lab) {
		l.Quietly(`
INSERT INTO object_state (source, object_id, revision, snapshot)
VALUES ($1, 'order', $2, '{"backfill": true}')`, l.Source("shop"), n)
	}
}

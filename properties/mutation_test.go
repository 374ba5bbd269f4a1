package properties_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/flawed"
	"webhooklab/properties"
)

// The judge is judged: each law catches the receivers that break it, on drawn input from a fixed
// seed on which the reference breaks none.
const mutationSeed, mutationSequences = 20_260_101, 300

// sinsByLaw are those that show when deliveries come one after the other.
func sinsByLaw() map[string][]subject {
	quiet := func(name string, receiver lab.NewReceiver) subject {
		return subject{name, receiver, flawed.WithoutRefusals}
	}
	unconditional := quiet("unconditional_advance", flawed.UnconditionalAdvance)
	equal := quiet("advance_equal_revision", flawed.AdvanceEqualRevision)
	keyless := quiet("key_without_source", flawed.KeyWithoutSource)
	any := quiet("any_conflict_is_duplicate", flawed.AnyConflictIsDuplicate)
	lenient := quiet("lenient_shape", flawed.LenientShape)
	target := quiet("conflict_target_event_id", flawed.ConflictTargetEventID)
	first := quiet("projection_first", flawed.ProjectionFirst)
	digest := subject{"dedup_by_digest", flawed.DedupByDigest, flawed.DedupByDigestState}
	unrecorded := subject{"refusal_rolled_back", flawed.RefusalRolledBack, lab.ReferenceState}
	return map[string][]subject{
		"accepted_once":          {digest},
		"acked_is_stored":        {any},
		"revision_has_one_event": {digest},
		"projection_is_greatest": {unconditional},
		"projection_has_source":  {first},
		"refused_once":           {unrecorded},
		"never_steps_back":       {unconditional, equal},
		modelDecides:             {unconditional, equal, keyless, any, lenient, target, digest},
		modelHolds:               {unconditional, first},
		linearizable:             {unconditional, keyless, any},
		answered:                 {target, lenient},
	}
}

func TestLawsCatchSins(t *testing.T) {
	for law, sins := range sinsByLaw() {
		for _, sin := range sins {
			t.Run(law+"/"+sin.name, func(t *testing.T) { catches(t, law, sin) })
		}
	}
}

// catches demands that the law catches the sin in one of the sequences, the same in every run, and
// that the reference comes through that one.
func catches(t *testing.T, law string, sin subject) {
	noLeaks(t)
	sinner, saint := sin.open(t), reference().open(t)
	drawn := sequences(12)
	for i := range mutationSequences {
		s, sources := drawn.Example(mutationSeed + i).fresh()
		found, err := sin.oneByOne(t.Context(), sinner, s, sources)
		require.NoError(t, err)
		if !found.broken(law) {
			continue
		}
		s, sources = drawn.Example(mutationSeed + i).fresh()
		found, err = reference().oneByOne(t.Context(), saint, s, sources)
		require.NoError(t, err)
		found.none(t, sources)
		t.Logf("caught by sequence %d", i+1)
		return
	}
	t.Fatalf("%s does not catch %s in %d sequences", law, sin.name, mutationSequences)
}

// sinsByFault show only where a fault helps: what is acknowledged before its COMMIT, and what is
// done in two transactions.
func sinsByFault() map[string][]subject {
	quiet := flawed.WithoutRefusals
	early := subject{"ack_before_commit", flawed.AckBeforeCommit, quiet}
	outside := subject{"projection_outside_transaction", flawed.ProjectionOutside, quiet}
	target := subject{"conflict_target_event_id", flawed.ConflictTargetEventID, quiet}
	return map[string][]subject{
		"acked_is_stored":        {early},
		"projection_is_greatest": {outside},
		linearizable:             {early, outside},
		answeredAtLast:           {target},
	}
}

func TestLawsCatchSinsWithFaults(t *testing.T) {
	for law, sins := range sinsByFault() {
		for _, sin := range sins {
			t.Run(law+"/"+sin.name, func(t *testing.T) { catchesWithFaults(t, law, sin) })
		}
	}
}

// catchesWithFaults uses one connection, so that nothing is left to chance.
func catchesWithFaults(t *testing.T, law string, sin subject) {
	noLeaks(t)
	sinner, saint := sin.wiredSenders(t, 1), reference().wiredSenders(t, 1)
	drawn := faulty(1)
	for i := range mutationSequences {
		found, _, err := sin.throughFaults(t.Context(), sinner, drawn.Example(mutationSeed+i))
		require.NoError(t, err)
		if !found.broken(law) {
			continue
		}
		found, sources, err := reference().throughFaults(
			t.Context(), saint, drawn.Example(mutationSeed+i))
		require.NoError(t, err)
		found.none(t, sources)
		t.Logf("caught by sequence %d", i+1)
		return
	}
	t.Fatalf("%s does not catch %s in %d sequences", law, sin.name, mutationSequences)
}

// A race that one-by-one delivery never shows: revision 1 has looked, revision 2 overtakes it.
func TestHistoriesCatchARace(t *testing.T) {
	noLeaks(t)
	overtaken := lab.Scenario{
		Name: "overtaken", Law: "an object never steps back",
		Play: func(l *lab.Lab) {
			older, newer := l.Session("older"), l.Session("newer")
			older.Deliver(raced(1)).HoldBefore("INSERT object_state")
			newer.Deliver(raced(2)).Answers(lab.Applied)
			older.Release()
			older.HoldBefore("COMMIT").Release()
		},
	}
	unguarded := subject{
		"advance_checked_before", flawed.AdvanceCheckedBefore, flawed.WithoutRefusals,
	}
	for _, c := range []struct {
		subject
		sinful bool
	}{
		{unguarded, true},
		{reference(), false},
	} {
		l, err := lab.Open(t.Context(), lab.Config{
			DSN: ground.database.DSN(), New: c.new, State: c.state, Laws: properties.Audited,
		})
		require.NoError(t, err)
		defer l.Close()
		r := l.Run(t.Context(), overtaken)
		var sources []string
		for _, op := range r.History.Operations() {
			sources = append(sources, op.Delivery.Source)
		}
		found := c.laws(t.Context(), sources[:1], r.History.Operations())
		require.Equal(t, c.sinful, found.broken("never_steps_back"), "%s\n%s", found, r)
		after, found := c.stored(t.Context(), sources[:1])
		require.Empty(t, found)
		offences := properties.Linearizable{}.Check("overtaken", r.History, after)
		require.Equal(t, c.sinful, len(offences) > 0, "%v\n%s", offences, r)
	}
}

func raced(revision int64) lab.Delivery {
	return lab.Delivery{
		Source: "shop", EventID: "evt_" + string(rune('0'+revision)), ObjectID: "order",
		Revision: revision, Snapshot: []byte(`{"total": 1}`),
	}
}

// A number that a float64 rounds is content.
func TestIdentityCatchesFloats(t *testing.T) {
	noLeaks(t)
	sin := subject{"compare_as_float", flawed.CompareAsFloat, flawed.WithoutRefusals}
	sinner, saint := sin.open(t), reference().open(t)
	for i := range mutationSequences {
		w := drawnWritings().Example(mutationSeed + i)
		found, err := w.judge(t.Context(), sinner)
		require.NoError(t, err)
		if !strings.Contains(found.String(), `is answered "duplicate", want "reused event id"`) {
			continue
		}
		found, err = w.judge(t.Context(), saint)
		require.NoError(t, err)
		require.Empty(t, found.String())
		t.Logf("caught by document %d: %+v", i+1, w)
		return
	}
	t.Fatalf("none of %d documents catches a comparison by float64", mutationSequences)
}

// Each law can fail: the sins that no draw shows are caught by the scenarios that Sinners names.
func TestEveryLawCanFail(t *testing.T) {
	for _, law := range properties.Audited {
		require.NotEmpty(t, sinsByLaw()[law.Name], "nothing shows that %s can fail", law.Name)
	}
}

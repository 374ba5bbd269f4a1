package properties_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/flawed"
	"webhooklab/properties"
	"webhooklab/scenarios"
)

// A guilty receiver, or schema, and a law that must find it so.
type guilty struct {
	law, sin string
	suite    scenarios.Suite
	receiver lab.NewReceiver
	alter    string // what the schema lacks, for the reference as well
	schema   string // what it sins by, for the reference not
	first    int    // the script to begin with: those before it show nothing
}

func bySchema(law, sin, schema string, first int) guilty {
	return guilty{law: law, sin: sin, suite: scenarios.LeasedSuite,
		receiver: scenarios.Leased, schema: schema, first: first}
}

// receiptSins are those that a machine of receipts can show.
func receiptSins() []guilty {
	atomic, leased := scenarios.AtomicSuite, scenarios.LeasedSuite
	sins := map[string]lab.NewReceiver{
		"error_swallowed": wrapped(func(c scenarios.Clerk) scenarios.Clerk { return swallowing{c} }),
		"copy_remembered": wrapped(func(c scenarios.Clerk) scenarios.Clerk {
			return &remembering{c, map[string]string{}}
		}),
	}
	for _, sinner := range scenarios.Sinners {
		sins[sinner.Name] = sinner.Receiver
		if sinner.Suite.Name == leased.Name {
			sins[sinner.Name] = refusing(sinner.Receiver)
		}
	}
	by := func(law, sin string, suite scenarios.Suite, first int) guilty {
		return guilty{law: law, sin: sin, suite: suite, receiver: sins[sin], alter: unguarded,
			first: first}
	}
	return []guilty{
		by("one_effect", "effect_outside_transaction", atomic, 54),
		by("one_effect", "plain_select_claim", leased, 54),
		by("one_effect", "skip_locked_in_autocommit", leased, 54),
		by("one_effect", "completion_not_fenced", leased, 54),
		by("one_effect", "effect_before_completion", leased, 45),
		by("effect_iff_processed", "mark_before_effect", atomic, 0),
		by("effect_iff_processed", "effect_outside_transaction", atomic, 54),
		by("effect_iff_processed", "handler_error_swallowed", atomic, 0),
		by("effect_iff_processed", "effect_before_completion", leased, 1),
		by("acked_has_receipt", "error_swallowed", leased, 0),
		by("attempts_never_shrink", "recovery_uncounted", leased, 0),
		by("final_is_final", "failure_overwrites_success", atomic, 62),
		bySchema("steps_follow", "failures_forgotten", failuresForgotten, 13),
		bySchema("history_is_written", "without_history", withoutHistory, 0),
		bySchema("deliveries_add_up", "copies_are_new", copiesAreNew, 0),
		by(terminalAtLast, "claim_committed_first", atomic, 0),
		by(modelDecides, "lease_never_reclaimed", leased, 0),
		by(modelDecides, "heartbeat_not_fenced", leased, 9),
		by(modelDecides, "failure_not_fenced", leased, 32),
		by(modelHolds, "recovery_uncounted", leased, 0),
		by(accounted, "copy_remembered", leased, 2),
	}
}

func TestLawsCatchSinsAgainstReceipts(t *testing.T) {
	noLeaks(t)
	innocent := map[string][]*crew{}
	for _, g := range receiptSins() {
		name := g.suite.Name + g.alter
		if innocent[name] == nil {
			innocent[name] = g.saints(t)
		}
		t.Run(g.law+"/"+g.sin, func(t *testing.T) { g.caughtByScript(t, innocent[name]) })
	}
}

// saints are the reference, and a sound receiver that is built like the flawed ones: it is the sin
// that is caught.
func (g guilty) saints(t *testing.T) []*crew {
	sound := flawed.HandlerWithoutSin(scenarios.Change)
	if g.suite.Name == scenarios.LeasedSuite.Name {
		sound = refusing(flawed.ClerkWithoutSin(scenarios.Change))
	}
	return []*crew{
		newCrew(t, g.suite, g.suite.Receiver, g.alter), newCrew(t, g.suite, sound, g.alter),
	}
}

func (g guilty) caughtByScript(t *testing.T, saints []*crew) {
	sinner := newCrew(t, g.suite, g.receiver, g.alter+g.schema)
	drawn := scripts(atomicActs())
	if g.suite.Name == scenarios.LeasedSuite.Name {
		drawn = scripts(steppedActs())
	}
	g.caught(t, func(i int, enough func(findings) bool) (findings, error) {
		return sinner.play(t.Context(), drawn.Example(i).inTurn(), enough)
	}, func(i int) (found findings, err error) {
		for _, saint := range saints {
			if err == nil && len(found) == 0 {
				found, err = saint.play(t.Context(), drawn.Example(i).inTurn(), findings.any)
			}
		}
		return found, err
	})
}

// caught demands that the law finds the sinner guilty of what it does with the input of some seed,
// and the saint innocent of anything with the same.
func (g guilty) caught(
	t *testing.T,
	sinner func(seed int, enough func(findings) bool) (findings, error),
	saint func(seed int) (findings, error),
) {
	t.Helper()
	broken := func(f findings) bool { return f.broken(g.law) }
	for i := range mutationSequences {
		seed := mutationSeed + g.first + i
		found, err := sinner(seed, broken)
		require.NoError(t, err)
		if !broken(found) {
			continue
		}
		found, err = saint(seed)
		require.NoError(t, err)
		found.none(t, sourceNames())
		t.Logf("caught by input %d", g.first+i)
		return
	}
	t.Fatalf("%s does not catch %s in %d inputs", g.law, g.sin, mutationSequences)
}

// inTurn leaves nothing to chance: what all do at once, one does.
func (s script) inTurn() script {
	for i := range s {
		s[i].all = s[i].all && !s[i].calls()
	}
	return s
}

// steppedActs are a worker's in single steps: the flawed keep the lease of their work for the step
// after it.
func steppedActs() []string {
	return slices.DeleteFunc(leasedActs(), func(what string) bool { return what == "work" })
}

// Each of these laws can fail, too.
func TestEveryLawOfReceiptsCanFail(t *testing.T) {
	shown := map[string]bool{}
	for _, g := range slices.Concat(receiptSins(), emailSins(), outboxSins()) {
		shown[g.law] = true
	}
	for _, law := range slices.Concat(
		properties.WatchedReceipts, properties.Emails, properties.Outbox) {
		require.True(t, shown[law.Name], "nothing shows that %s can fail", law.Name)
	}
}

// wrapped is the reference clerk with a sin around it.
func wrapped(sin func(scenarios.Clerk) scenarios.Clerk) lab.NewReceiver {
	return func(ctx context.Context, dsn string) (lab.Receiver, error) {
		r, err := scenarios.Leased(ctx, dsn)
		if err != nil {
			return nil, err
		}
		return sin(r.(scenarios.Clerk)), nil
	}
}

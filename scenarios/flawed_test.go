package scenarios_test

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/flawed"
	"webhooklab/lab/postgres"
	"webhooklab/lab/report"
	"webhooklab/scenarios"
)

// Each sin is caught by the scenario that its entry names, and the reference passes that very
// scenario on a clone of the same template: the judge can say no, and says it for the right reason.
func TestFlawedReceiversAreCaught(t *testing.T) {
	chosen(t, scenarios.Suite{})
	references := map[string]*scenarios.Bench{}
	passed := map[string]bool{}
	for _, sinner := range scenarios.Sinners {
		suite, sc, err := scenarios.Named(sinner.Scenario)
		require.NoError(t, err)
		good := references[suite.Name]
		if good == nil {
			good = bench(t, postgres.Fast, suite, scenarios.Options{Seed: seed()})
			references[suite.Name] = good
		}
		t.Run(sinner.Name, func(t *testing.T) {
			if !passed[sc.Name] {
				scenarios.Demand(t, good.Run(t.Context(), sc))
				passed[sc.Name] = true
			}

			o := sinner.Options()
			o.Seed, o.Rows = seed(), true
			r := bench(t, postgres.Fast, sinner.Suite, o).Run(t.Context(), sc)
			caught(t, sinner.Name, r)
			require.Contains(t, broken(sinner.Suite, r), sinner.Law, r.String())
			golden(t, "flawed/"+sinner.Name, r.Transcript)
		})
	}
}

// broken are the laws that a report finds broken: invariants by their names, and the scenario's own
// sentence.
func broken(suite scenarios.Suite, r lab.Report) (laws []string) {
	for _, o := range r.Offences {
		law := o.Law
		for _, v := range slices.Concat(suite.Laws, suite.Audited) {
			if v.Law == law {
				law = v.Name
			}
		}
		laws = append(laws, law)
	}
	return laws
}

// A sound copy of the flawed receivers' common parts passes everything, so that what catches a
// sin is the sin.
func TestWithoutASinNothingIsCaught(t *testing.T) {
	for _, sound := range []struct {
		suite   scenarios.Suite
		options scenarios.Options
	}{
		{scenarios.SnapshotSuite, scenarios.Options{
			Receiver: flawed.WithoutSin, State: flawed.WithoutRefusals,
		}},
		{scenarios.EmailSuite, scenarios.Options{Receiver: flawed.EmailWithoutSin}},
		{scenarios.AtomicSuite, scenarios.Options{
			Receiver: flawed.HandlerWithoutSin(scenarios.Change),
			State:    scenarios.AtomicWithoutRefusals,
		}},
		{scenarios.LeasedSuite, scenarios.Options{
			Receiver: flawed.ClerkWithoutSin(scenarios.Change),
		}},
		{scenarios.OutboxSuite, scenarios.Options{Receiver: flawed.PosterWithoutSin}},
	} {
		b := bench(t, postgres.Fast, sound.suite, sound.options)
		for _, sc := range sound.suite.Scenarios {
			if scenarios.Profile(sc) == postgres.Durable {
				continue
			}
			t.Run(sc.Name, func(t *testing.T) {
				scenarios.Demand(t, b.Run(t.Context(), sc)) // they keep no refusals to be shown
			})
		}
	}
}

// The reference leans on the schema: without either unique constraint, or with another writer
// that ignores the guard, it is no better than a flawed receiver.
func TestGuardsOfTheSchema(t *testing.T) {
	for _, guard := range []struct{ name, scenario, alter string }{
		{"event_key", "reused_event_id_other_revision",
			`ALTER TABLE webhook_inbox DROP CONSTRAINT webhook_inbox_event_once;`},
		{"revision_key", "reused_revision",
			`ALTER TABLE webhook_inbox DROP CONSTRAINT webhook_inbox_revision_once;`},
		{"another_writer", "newer_then_older", anotherWriter},
	} {
		t.Run(guard.name, func(t *testing.T) {
			suite, sc, err := scenarios.Named(guard.scenario)
			require.NoError(t, err)
			b := bench(t, postgres.Fast, suite, scenarios.Options{Alter: guard.alter, Rows: true})
			caught(t, "without_"+guard.name, b.Run(t.Context(), sc))
		})
	}
}

// anotherWriter is a well-meant trigger that keeps the projection "up to date" by itself and knows
// nothing of revisions.
const anotherWriter = `
CREATE FUNCTION sync_state() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE object_state
	   SET revision = NEW.revision, snapshot = NEW.snapshot
	 WHERE source = NEW.source AND object_id = NEW.object_id;
	RETURN NULL;
END $$;
CREATE TRIGGER sync_state AFTER INSERT ON webhook_inbox
   FOR EACH ROW EXECUTE FUNCTION sync_state();`

// caught demands that the scenario says no, and keeps what it said.
func caught(t *testing.T, sin string, r lab.Report) {
	t.Helper()
	e := report.Entry{Suite: report.Flawed, Name: sin, Law: r.Law, Runs: 1, Elapsed: r.Elapsed}
	require.NoError(t, report.SavePlay(os.Getenv("LAB_LOGS"), report.Flawed, sin, r))
	if r.Verdict == lab.VerdictInvalid {
		e.CaughtBy = r.Scenario
		e.Detail = "caught by " + r.Scenario + ": " + r.Offences[0].Text
	} else {
		e.Verdict, e.Offences = lab.VerdictUnknown, []lab.Offence{{
			Verdict: lab.VerdictUnknown, Law: r.Law,
			Text: r.Scenario + " should catch " + sin + " and says " + r.Verdict.String(),
		}}
	}
	require.NoError(t, report.Append(os.Getenv("LAB_LOGS"), e))
	require.Equal(t, lab.VerdictInvalid, r.Verdict, r.String())
	t.Log(e.Detail)
}

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

var sinners = slices.Concat(flawed.All, flawed.Email, flawed.Atomic(scenarios.Change),
	flawed.Leased(scenarios.Change), flawed.Outbox, []flawed.Sin{
		{Name: "door_trusts_anybody", Scenario: "door_forged_first",
			New: scenarios.DoorWith(flawed.TrustsAnybody, nil)},
		{Name: "door_duplicate_is_an_error", Scenario: "door_applied",
			New: scenarios.DoorWith(nil, flawed.DuplicateIsAnError)},
		{Name: "door_swallows_unavailable", Scenario: "door_commit_lost_fin",
			New: scenarios.DoorWith(nil, flawed.SwallowsUnavailable)},
	})

// withoutStateMachine is a schema without the trigger that would refuse some sins by itself.
const withoutStateMachine = `DROP TRIGGER webhook_receipt_step ON webhook_receipt;`

// alter is what is taken from the schema before a sin of this suite is shown.
func alter(suite scenarios.Suite) string {
	if suite.Name == scenarios.AtomicSuite.Name || suite.Name == scenarios.LeasedSuite.Name {
		return withoutStateMachine
	}
	return ""
}

// Each sin is caught by the scenario that its entry names, and the reference passes that very
// scenario on a clone of the same template: the judge can say no, and says it for the right reason.
func TestFlawedReceiversAreCaught(t *testing.T) {
	chosen(t, scenarios.Suite{})
	for _, sin := range sinners {
		t.Run(sin.Name, func(t *testing.T) {
			suite, sc, err := scenarios.Named(sin.Scenario)
			require.NoError(t, err)

			good := bench(t, postgres.Fast, suite, scenarios.Options{Seed: seed()})
			scenarios.Demand(t, good.Run(t.Context(), sc))

			bad := bench(t, postgres.Fast, suite,
				scenarios.Options{Receiver: sin.New, Alter: alter(suite), Seed: seed(), Rows: true})
			r := bad.Run(t.Context(), sc)
			caught(t, sin.Name, r)
			golden(t, "flawed/"+sin.Name, r.Transcript)
		})
	}
}

// A sound copy of the flawed receivers' common parts passes everything, so that what catches a
// sin is the sin.
func TestWithoutASinNothingIsCaught(t *testing.T) {
	for _, sound := range []struct {
		suite   scenarios.Suite
		options scenarios.Options
	}{
		{scenarios.SnapshotSuite, scenarios.Options{
			Receiver: flawed.WithoutSin,
			State:    lab.ReferenceState[:2], // they keep no refusals
		}},
		{scenarios.EmailSuite, scenarios.Options{Receiver: flawed.EmailWithoutSin}},
		{scenarios.LeasedSuite, scenarios.Options{
			Receiver: flawed.ClerkWithoutSin(scenarios.Change),
		}},
	} {
		b := bench(t, postgres.Fast, sound.suite, sound.options)
		for _, sc := range sound.suite.Scenarios {
			if scenarios.Profile(sc) == postgres.Durable {
				continue
			}
			t.Run(sc.Name, func(t *testing.T) {
				r := b.Run(t.Context(), sc)
				require.Equal(t, lab.VerdictValid, r.Verdict, r.String())
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

package scenarios_test

import (
	"context"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/mutation"
	"webhooklab/lab/postgres"
	"webhooklab/scenarios"
)

// sampled is how many mutants there are for each one that is tried, unless all are asked for.
const sampled = 10

// Nothing in the schema is decoration, and no clause of the receivers' SQL: without any one of
// them, somebody says so, or the list says why nobody can. LAB_ALL=1 takes away all of them, LAB_MUTANT
// chooses by name.
func TestEveryGuardIsNeeded(t *testing.T) {
	ofTheLab(t)
	chosen(t, scenarios.Suite{})
	all, err := stage.Mutants(t.Context())
	require.NoError(t, err)
	only := regexp.MustCompile(os.Getenv("LAB_MUTANT"))
	for i, m := range all {
		if !only.MatchString(m.Name) || !wantsAll() && os.Getenv("LAB_MUTANT") == "" && i%sampled != 0 {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			f := stage.Try(t.Context(), m, scenarios.MutantJudges(m)...)
			t.Logf("%s [%s] after %v", f, m.Taken(), f.Elapsed.Round(time.Millisecond))
			want := mutation.Caught
			if l, ok := scenarios.Listed[m.Name]; ok {
				want = l.Verdict
			}
			require.Equal(t, want, f.Verdict, "the list of equivalents has to say so, or not")
		})
	}
}

// The list names mutants that there are, each mutant has a name of its own, and all can be made.
func TestTheListOfMutantsIsUpToDate(t *testing.T) {
	all, err := stage.Mutants(t.Context())
	require.NoError(t, err)
	names := map[string]bool{}
	for _, m := range all {
		require.False(t, names[m.Name], "two mutants are called %s", m.Name)
		require.Empty(t, m.Fault, m.Name)
		names[m.Name] = true
	}
	for name, l := range scenarios.Listed {
		require.True(t, names[name], "there is no mutant %s", name)
		require.NotEmpty(t, l.Reason, name)
	}
}

// What no edit was made to is caught by nobody, neither as it is nor where steps are allowed that
// some mutants need: what catches a mutant is the guard that it lacks.
func TestWithoutAMutationNothingIsCaught(t *testing.T) {
	ofTheLab(t)
	for _, of := range []string{"snapshots", "email", "receipts", "leases"} {
		for name, alter := range map[string]string{
			"as it is": "", "any step": scenarios.WithoutSteps,
		} {
			t.Run(of+" "+name, func(t *testing.T) {
				none := mutation.Mutant{Name: "none", Kind: mutation.SQL, Of: of, Alter: alter}
				f := stage.Try(t.Context(), none, scenarios.MutantJudges(none)...)
				require.Equal(t, mutation.Survived, f.Verdict, f.String())
			})
		}
	}
}

// What can't be made, or doesn't work at all, or is never used, is broken and not caught; and it
// makes no difference who would have said what.
func TestABrokenMutantIsNotCaught(t *testing.T) {
	ofTheLab(t)
	always := func(context.Context, *scenarios.Trial) (scenarios.Catch, error) {
		return scenarios.Catch{By: "somebody", Law: "some law"}, nil
	}
	key := "ALTER TABLE object_state DROP CONSTRAINT object_state_one_per_object"
	for reason, m := range map[string]mutation.Mutant{
		"42P10":                {Of: "snapshots", Alter: key},
		"no such thing":        {Of: "snapshots", Fault: "no such thing"},
		"42P01":                {Of: "snapshots", Alter: "DROP TABLE nothing"},
		"matches no statement": {Of: "snapshots", Edit: mutation.Edit{Old: "FOR SHARE"}},
		"42601": {Of: "snapshots", Edit: mutation.Edit{
			In: "INTO webhook_inbox", Old: "ON CONFLICT", New: "ON"}},
		"no suite": {Of: "nothing"},
	} {
		f := stage.Try(t.Context(), m, always)
		require.Equal(t, mutation.Broken, f.Verdict, reason)
		require.Contains(t, f.Reason, reason)
	}
	b := bench(t, postgres.Fast, scenarios.SnapshotSuite, scenarios.Options{})
	require.NoError(t, b.Exec(t.Context(), "SELECT 1"), "the stage still stands")
}

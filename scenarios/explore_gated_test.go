package scenarios_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/postgres"
	"webhooklab/scenarios"
)

// The reference keeps its promises too when its statements are stopped between their rows: the
// likeliest orders of every pair of sessions.
func TestOrdersInsideStatements(t *testing.T) {
	if !wantsAll() {
		t.Skip("the references inside their statements are left to LAB_ALL=1")
	}
	for suite, b := range benches(t, postgres.Fast, scenarios.Explorable) {
		for _, p := range programs(t, suite) {
			if len(p.Sessions) != 2 {
				continue
			}
			t.Run(p.Name, func(t *testing.T) {
				e := b.Explore(t.Context(), lab.Exploration{Program: p, Gated: true, Budget: 30})
				clean(t, e)
				t.Logf("%d stops at gates; %s", e.Gates, counts(e))
			})
		}
	}
}

// Reduction loses nothing inside statements either.
func TestReductionLosesNothingInsideStatements(t *testing.T) {
	ofTheLab(t)
	if testing.Short() {
		t.Skip("whole trees are left out under -short")
	}
	for _, name := range []string{"two_copies", "two_sources", "copy_and_next", "email_and_its_message"} {
		t.Run(name, func(t *testing.T) {
			suite, p, err := scenarios.ProgramNamed(name)
			require.NoError(t, err)
			b := bench(t, postgres.Fast, scenarios.Explorable(suite), scenarios.Options{Seed: seed()})
			reduced := b.Explore(t.Context(), lab.Exploration{Program: p, Gated: true})
			whole := b.Explore(t.Context(), lab.Exploration{Program: p, Gated: true, Whole: true})
			clean(t, reduced)
			clean(t, whole)
			require.True(t, whole.Complete() && reduced.Complete())
			require.Equal(t, keys(whole.States), keys(reduced.States))
			t.Logf("whole: %s\nreduced: %s", counts(whole), counts(reduced))
		})
	}
}

package scenarios_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/flawed"
	"webhooklab/lab/postgres"
	"webhooklab/scenarios"
)

// Thirty times of thirty with gates, never without; and what keeps the contract keeps it in every
// order of its rows.
func TestSinnersInsideAreCaughtByGatesOnly(t *testing.T) {
	chosen(t, scenarios.Suite{})
	for _, sinner := range scenarios.SinnersInside {
		t.Run(sinner.Name, func(t *testing.T) {
			b := bench(t, postgres.Fast, scenarios.SnapshotSuite, scenarios.Options{Seed: seed(),
				Receiver: sinner.Receiver, State: flawed.WithoutRefusals, Alter: sinner.Alter})
			want := lab.Exploration{Program: sinner.Program, Whole: true, Stop: 1}
			found := 0
			for range 30 {
				gated, control := b.ExploreGated(t.Context(), want)
				require.Equal(t, lab.VerdictValid.String(), control.Verdict.String())
				require.True(t, control.Complete())
				if gated.Verdict == lab.VerdictInvalid {
					found++
				}
				require.Positive(t, gated.Gates)
			}
			require.Equal(t, 30, found)

			good := bench(t, postgres.Fast, scenarios.SnapshotSuite, scenarios.Options{Seed: seed()})
			gated, control := good.ExploreGated(t.Context(), want)
			for _, e := range []lab.Explored{gated, control} {
				require.Equal(t, lab.VerdictValid.String(), e.Verdict.String(), e.Failures)
				require.True(t, e.Complete())
			}
			t.Logf("the reference: %d orders with gates in %v, %d without in %v",
				gated.Explored, gated.Elapsed, control.Explored, control.Elapsed)
		})
	}
}

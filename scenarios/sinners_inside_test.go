package scenarios_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/flawed"
	"webhooklab/lab/postgres"
	"webhooklab/lab/report"
	"webhooklab/scenarios"
)

// What sins inside a statement is found every time with gates, and never without: between commands
// there is nothing to see. The reference holds in both.
func TestSinnersInsideAreCaughtByGatesOnly(t *testing.T) {
	chosen(t, scenarios.Suite{})
	for _, sinner := range scenarios.SinnersInside {
		t.Run(sinner.Name, func(t *testing.T) {
			want := lab.Exploration{Program: sinner.Program, Whole: true, Stop: 1, List: true}
			good := bench(t, postgres.Fast, scenarios.SnapshotSuite, scenarios.Options{Seed: seed()})
			gated, control := good.ExploreGated(t.Context(), want)
			require.NoError(t, report.AppendExplored(os.Getenv("LAB_LOGS"),
				scenarios.ToldGated(scenarios.SnapshotSuite.Name, gated, control)))
			clean(t, gated)
			clean(t, control)
			require.True(t, gated.Complete() && control.Complete())

			b := bench(t, postgres.Fast, scenarios.SnapshotSuite, scenarios.Options{Seed: seed(),
				Receiver: sinner.Receiver, State: flawed.WithoutRefusals, Alter: sinner.Alter})
			for i := range loops(t) {
				gated, control := b.ExploreGated(t.Context(), want)
				clean(t, control)
				require.True(t, control.Complete())
				require.NotEmpty(t, gated.Failures)
				require.Positive(t, gated.Gates)
				if i == 0 {
					caught(t, sinner.Name, gated.Failures[0].Report)
				}
			}
		})
	}
}

package lab_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/flawed"
	"webhooklab/lab/postgres"
	"webhooklab/scenarios"
)

// crews are a lab that works alone and one that others have joined.
func crews(t *testing.T, r lab.NewReceiver) (benches []*scenarios.Bench) {
	t.Helper()
	for _, alone := range []bool{true, false} {
		b, err := stage.Bench(context.Background(), postgres.Fast,
			scenarios.Explorable(scenarios.SnapshotSuite),
			scenarios.Options{Receiver: r, Seed: 7, Alone: alone})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, b.Close(context.Background())) })
		b.Explore(t.Context(), lab.Exploration{Program: of(t, "three_copies"), Whole: true, Budget: 120})
		require.Equal(t, alone, lab.Twins(b.Lab) == 0)
		benches = append(benches, b)
	}
	return benches
}

// What comes of an exploration does not depend on how many labs share it, nor on which is faster.
func TestCrewChangesNothing(t *testing.T) {
	both := crews(t, scenarios.Snapshots)
	for _, want := range []lab.Exploration{
		{Program: of(t, "three_copies"), Whole: true},
		{Program: of(t, "three_revisions")},
		{Program: of(t, "three_revisions"), Whole: true, Budget: 50, Samples: 20},
		{Program: of(t, "two_revisions"), Whole: true, Audit: 3},
	} {
		alone, shared := both[0].Explore(t.Context(), want), both[1].Explore(t.Context(), want)
		alone.Elapsed, shared.Elapsed = 0, 0
		require.Equal(t, lab.VerdictValid, alone.Verdict)
		require.Equal(t, alone, shared)
	}
}

// The failures are the same, and in the same order.
func TestCrewFindsTheSame(t *testing.T) {
	both := crews(t, flawed.UnconditionalAdvance)
	lines := make([][]string, 2)
	for i, b := range both {
		e := b.Explore(t.Context(), lab.Exploration{Program: of(t, "three_revisions"), Whole: true})
		for _, f := range e.Failures {
			lines[i] = append(lines[i], f.Line()+" "+f.Report.Offences[0].Text)
		}
	}
	require.Len(t, lines[0], 5)
	require.Equal(t, lines[0], lines[1])
}

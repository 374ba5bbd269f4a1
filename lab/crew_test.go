package lab_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/flawed"
	"webhooklab/lab/postgres"
	"webhooklab/scenarios"
)

// crews are a lab that works alone and one that others have joined.
func crews(t *testing.T, suite scenarios.Suite, r lab.NewReceiver) (benches []*scenarios.Bench) {
	t.Helper()
	for _, alone := range []bool{true, false} {
		b, err := stage.Bench(context.Background(), postgres.Fast, scenarios.Explorable(suite),
			scenarios.Options{Receiver: r, Seed: 7, Alone: alone})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, b.Close(context.Background())) })
		if !alone {
			require.NoError(t, lab.Join(t.Context(), b.Lab))
			require.Positive(t, lab.Twins(b.Lab), "one processor is no crew")
		}
		benches = append(benches, b)
	}
	return benches
}

// What comes of an exploration does not depend on how many labs share it, nor on which is faster.
func TestCrewChangesNothing(t *testing.T) {
	both := crews(t, scenarios.SnapshotSuite, scenarios.Snapshots)
	for _, want := range []lab.Exploration{
		{Program: of(t, "three_copies"), Whole: true},
		{Program: of(t, "three_revisions")},
		{Program: of(t, "three_revisions"), Whole: true, Budget: 50, Samples: 20},
		{Program: of(t, "two_revisions"), Whole: true, Audit: 3},
		{Program: of(t, "outside_writer"), Budget: 15},
		{Program: of(t, "two_revisions"), Gated: true},
	} {
		alone, shared := both[0].Explore(t.Context(), want), both[1].Explore(t.Context(), want)
		alone.Elapsed, shared.Elapsed = 0, 0
		alone.Outrun, shared.Outrun = 0, 0
		alone.Restarts, shared.Restarts = 0, 0 // who died first in a deadlock decides what it taught
		require.Equal(t, lab.VerdictValid, alone.Verdict)
		require.Equal(t, alone, shared)
	}
}

// The failures are the same, and in the same order, also when a budget ends the exploration: the runs
// are chosen in one order only.
func TestCrewFindsTheSame(t *testing.T) {
	both := crews(t, scenarios.SnapshotSuite, flawed.UnconditionalAdvance)
	lines := make([][]string, 2)
	for i, b := range both {
		e := b.Explore(t.Context(), lab.Exploration{
			Program: of(t, "three_revisions"), Whole: true, Budget: 60, Stop: 1000})
		for _, f := range e.Failures {
			lines[i] = append(lines[i], f.Line()+" "+f.Report.Offences[0].Text)
		}
	}
	require.Greater(t, len(lines[0]), 10)
	require.Equal(t, lines[0], lines[1])
}

// Labs that clear their tables before each run, and judge each by itself, are a crew as well.
func TestCrewThatClearsItsTables(t *testing.T) {
	both := crews(t, scenarios.OutboxSuite, scenarios.OutboxSuite.Receiver)
	want := lab.Exploration{Program: of(t, "outbox_two_dispatchers"), Budget: 30}
	alone, shared := both[0].Explore(t.Context(), want), both[1].Explore(t.Context(), want)
	alone.Elapsed, shared.Elapsed = 0, 0
	require.Equal(t, lab.VerdictValid, alone.Verdict)
	require.Equal(t, alone, shared)
}

// Cells come in their order, whoever plays them, and the first that is broken is the last.
func TestCrewSweepsTheSame(t *testing.T) {
	for _, r := range []lab.NewReceiver{scenarios.Snapshots, flawed.ProjectionOutside} {
		both := crews(t, scenarios.SnapshotSuite, r)
		for _, p := range scenarios.SnapshotSuite.Swept {
			var cells [2][]lab.Cell
			for i, b := range both {
				s := b.Sweep(t.Context(), lab.Sweeping{Program: p, First: true})
				require.NotEqual(t, lab.VerdictUnknown, s.Verdict)
				require.LessOrEqual(t, len(s.Failures()), 1, "the first is enough")
				cells[i] = s.Cells
				for k := range cells[i] {
					cells[i][k].Elapsed = 0
				}
			}
			require.Equal(t, cells[0], cells[1], p.Name)
		}
	}
}

// A run that is interrupted leaves nobody playing, says so, and costs the lab nothing: the next
// exploration is whole.
func TestCrewIsInterrupted(t *testing.T) {
	var calls atomic.Int64
	var cancel context.CancelFunc
	for _, b := range crews(t, scenarios.SnapshotSuite, calling(func() {
		if calls.Add(1) == 40 {
			cancel()
		}
	})) {
		for _, gated := range []bool{false, true} {
			var ctx context.Context
			ctx, cancel = context.WithCancel(t.Context())
			calls.Store(0)
			e := b.Explore(ctx, lab.Exploration{Program: of(t, "three_copies"), Whole: true, Gated: gated})
			cancel()
			require.Equal(t, lab.VerdictUnknown, e.Verdict)
			again := b.Explore(t.Context(), lab.Exploration{Program: of(t, "two_revisions"),
				Whole: true})
			require.Equal(t, lab.VerdictValid, again.Verdict, "%v", again.Failures)
			require.Equal(t, 14, again.Explored)
		}
	}
}

// calling is the reference that calls somebody before each delivery.
func calling(before func()) lab.NewReceiver {
	return func(ctx context.Context, dsn string) (lab.Receiver, error) {
		r, err := scenarios.Snapshots(ctx, dsn)
		return caller{r, before}, err
	}
}

type caller struct {
	lab.Receiver
	before func()
}

func (c caller) Receive(ctx context.Context, d lab.Delivery) (lab.Answer, error) {
	c.before()
	return c.Receiver.Receive(ctx, d)
}

func (c caller) Close() { c.Receiver.(interface{ Close() }).Close() }

package lab_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/flawed"
	"webhooklab/lab/postgres"
	"webhooklab/scenarios"
)

// explorer is a lab for explorations: on a clone without the audit.
func explorer(t testing.TB, r lab.NewReceiver) *scenarios.Bench {
	t.Helper()
	b, err := stage.Bench(context.Background(), postgres.Fast,
		scenarios.Explorable(scenarios.SnapshotSuite), scenarios.Options{Receiver: r, Seed: 7})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close(context.Background())) })
	return b
}

func of(t testing.TB, name string) lab.Program {
	t.Helper()
	_, p, err := scenarios.ProgramNamed(name)
	require.NoError(t, err)
	return p
}

// The shards of a tree are the whole: together they run as many schedules, with the same ends.
func TestShardsAreTheWhole(t *testing.T) {
	for _, whole := range []bool{true, false} {
		b, p := explorer(t, scenarios.Snapshots), of(t, "three_copies")
		all := b.Explore(t.Context(), lab.Exploration{Program: p, Whole: whole})
		const n = 3
		total, states := 0, map[string]int{}
		for i := range n {
			part := b.Explore(t.Context(), lab.Exploration{
				Program: p, Whole: whole, Shard: i + 1, Shards: n})
			require.Equal(t, lab.VerdictValid, part.Verdict)
			require.Less(t, part.Explored, all.Explored)
			require.Zero(t, part.Left)
			total += part.Explored
			for state, k := range part.States {
				states[state] += k
			}
		}
		require.Equal(t, all.Explored, total, "whole: %v", whole)
		require.Equal(t, all.States, states)
	}
}

// A schedule that ends where subtrees are dealt out belongs to one shard as well.
func TestShortSchedulesBelongToOneShard(t *testing.T) {
	looks := func(name string, times int) lab.Actor {
		a := lab.Actor{Name: name}
		for range times {
			a.Does = append(a.Does, lab.RunsSQL("SELECT count(*) FROM webhook_inbox"))
		}
		return a
	}
	for _, steps := range []int{2, 3} {
		p := lab.Program{Name: "readers", Law: "who only looks changes nothing",
			Sessions: []lab.Actor{looks("one", 2), looks("other", steps)}}
		b := explorer(t, scenarios.Snapshots)
		all := b.Explore(t.Context(), lab.Exploration{Program: p, Whole: true})
		total := 0
		for shard := 1; shard <= 3; shard++ {
			total += b.Explore(t.Context(), lab.Exploration{
				Program: p, Whole: true, Shard: shard, Shards: 3}).Explored
		}
		require.Equal(t, all.Explored, total, "%d steps", 2+steps)
	}
}

// A budget ends an exploration; what is left is counted, and samples say what they are worth.
func TestBudget(t *testing.T) {
	b := explorer(t, scenarios.Snapshots)
	e := b.Explore(t.Context(), lab.Exploration{
		Program: of(t, "three_revisions"), Whole: true, Budget: 20, Samples: 10})
	require.Equal(t, lab.VerdictValid, e.Verdict)
	require.Equal(t, 20, e.Explored)
	require.Equal(t, 10, e.Sampled)
	require.Positive(t, e.Left)
	require.False(t, e.Complete())
	require.Contains(t, e.Bound, "10 random schedules")
}

// A list holds what is counted: each order once, drawn or not, under the end that it came to.
func TestTheListAddsUp(t *testing.T) {
	b := explorer(t, scenarios.Snapshots)
	want := lab.Exploration{Program: of(t, "three_revisions"), Budget: 20, Samples: 10}
	require.Empty(t, b.Explore(t.Context(), want).Listed, "nobody asked for it")

	want.List = true
	e := b.Explore(t.Context(), want)
	require.Len(t, e.Listed, e.Explored+e.Sampled)
	states, lines, drawn := map[string]int{}, map[string]bool{}, 0
	for _, o := range e.Listed {
		_, err := lab.ParseSchedule(o.Line)
		require.NoError(t, err)
		require.Equal(t, lab.VerdictValid, o.Verdict)
		end := e.Ends[o.End]
		states[end.Answers+"\n"+end.State]++
		if o.Drawn {
			drawn++
			continue
		}
		require.False(t, lines[o.Line], "it is there twice: %s", o.Line)
		lines[o.Line] = true
	}
	require.Equal(t, e.States, states)
	require.Equal(t, e.Sampled, drawn)
}

// The same seed draws the same schedules.
func TestSamplesFollowTheSeed(t *testing.T) {
	b := explorer(t, scenarios.Snapshots)
	want := lab.Exploration{Program: of(t, "three_revisions"), Whole: true, Budget: 1, Samples: 20}
	first, second := b.Explore(t.Context(), want), b.Explore(t.Context(), want)
	require.Equal(t, first.States, second.States)
}

// A failure is shrunk to what it needs, its line replays it, and on a sound receiver the same line
// fits and holds.
func TestFailuresShrinkAndReplay(t *testing.T) {
	b, p := explorer(t, flawed.UnconditionalAdvance), of(t, "three_revisions")
	e, err := b.ExploreAndKeep(t.Context(), lab.Exploration{Program: p, Stop: 1}, scenarios.Failing{})
	require.NoError(t, err)
	require.Equal(t, lab.VerdictInvalid, e.Verdict)
	shrunk := e.Failures[0].Shrunk
	require.NotNil(t, shrunk)
	require.Len(t, shrunk.Acts, 2, "two revisions are enough: %s", shrunk)

	s, err := lab.ParseSchedule(e.Failures[0].Line())
	require.NoError(t, err)
	smaller, err := p.Only(s.Acts)
	require.NoError(t, err)
	again := b.Replay(t.Context(), smaller, s)
	require.Empty(t, again.NoFit)
	require.Equal(t, lab.VerdictInvalid, again.Report.Verdict)
	require.Equal(t, e.Failures[0].Report.Offences[0].Law, again.Report.Offences[0].Law)

	sound := explorer(t, scenarios.Snapshots).Replay(t.Context(), smaller, s)
	require.Empty(t, sound.NoFit)
	require.Equal(t, lab.VerdictValid, sound.Report.Verdict)
}

// A line that a receiver no longer follows is told from one that breaks a law, step by step.
func TestReplayTellsWhatNoLongerFits(t *testing.T) {
	b, p := explorer(t, scenarios.Snapshots), of(t, "two_copies")
	for line, reason := range map[string]string{
		"two_copies@7 first:SELECT+webhook_inbox": "step 1 is first:SELECT+webhook_inbox, " +
			"but first is held before INSERT webhook_inbox",
		"two_copies@7 first retry first retry": "step 4 is retry, but first is held before COMMIT; " +
			"retry waits in INSERT webhook_inbox for first",
		"two_copies@7 first first first retry retry retry retry": "the program ended before retry",
		"two_copies@7 first retry~wake":                          "PostgreSQL had nobody to choose from",
	} {
		s, err := lab.ParseSchedule(line)
		require.NoError(t, err)
		require.Contains(t, b.Replay(t.Context(), p, s).NoFit, reason)
	}
}

// What failed before goes first, and is the first failure told.
func TestFailingSchedulesGoFirst(t *testing.T) {
	kept := scenarios.Failing{Dir: t.TempDir()}
	b, p := explorer(t, flawed.CheckThenInsert), of(t, "two_copies")
	e, err := b.ExploreAndKeep(t.Context(), lab.Exploration{Program: p, Stop: 1}, kept)
	require.NoError(t, err)
	lines, err := kept.Lines(p.Name)
	require.NoError(t, err)
	require.Len(t, lines, 1)

	again, err := b.ExploreAndKeep(t.Context(), lab.Exploration{Program: p, Stop: 1}, kept)
	require.NoError(t, err)
	require.Zero(t, again.Explored, "the stored line is enough")
	require.Equal(t, e.Failures[0].Line(), again.Failures[0].Schedule.String())
}

// A receiver that hangs, panics or sends nothing is judged unknown or invalid, never valid.
func TestExplorationOfWhatMisbehaves(t *testing.T) {
	p := of(t, "two_copies")
	silent := explorer(t, behaving(func(context.Context) (lab.Answer, error) {
		return lab.Applied, nil
	})).Explore(t.Context(), lab.Exploration{Program: p})
	require.Equal(t, lab.VerdictInvalid, silent.Verdict)

	panics := explorer(t, behaving(func(context.Context) (lab.Answer, error) {
		panic("at the disco")
	})).Explore(t.Context(), lab.Exploration{Program: p})
	require.Equal(t, lab.VerdictInvalid, panics.Verdict)

	ctx, cancel := context.WithCancel(t.Context())
	hangs := explorer(t, behaving(func(c context.Context) (lab.Answer, error) {
		cancel() // somebody stops the run
		<-c.Done()
		return lab.Unknown, errors.New("gave up")
	})).Explore(ctx, lab.Exploration{Program: p})
	require.Equal(t, lab.VerdictUnknown, hangs.Verdict)
}

type misbehaving func(context.Context) (lab.Answer, error)

func behaving(m misbehaving) lab.NewReceiver {
	return func(context.Context, string) (lab.Receiver, error) { return m, nil }
}

func (m misbehaving) Receive(ctx context.Context, _ lab.Delivery) (lab.Answer, error) {
	return m(ctx)
}

// Who dies in a deadlock is a branch of the tree: each of the two does in some schedule, and always
// the same in the same.
func TestVictimsAreABranch(t *testing.T) {
	b := explorer(t, scenarios.Snapshots)
	p := of(t, "outside_writer")
	first := b.Explore(t.Context(), lab.Exploration{Program: p, Whole: true, Audit: 1})
	require.Empty(t, first.Varied)
	require.Equal(t, 4, first.Choices, "each is run into once for either victim")
	for range 5 {
		again := b.Explore(t.Context(), lab.Exploration{Program: p, Whole: true})
		require.Equal(t, first.Outcomes, again.Outcomes)
		require.True(t, again.Complete(), "%d left", again.Left)
	}
}

// SQL with the run's own names in it is one text: it is explained and checked like any other, and
// the tree is begun anew for what it teaches, not for every run.
func TestNamesOfTheRunAreNoNewText(t *testing.T) {
	b := explorer(t, scenarios.Snapshots)
	e := b.Explore(t.Context(), lab.Exploration{Program: of(t, "outside_writer")})
	require.Equal(t, lab.VerdictValid, e.Verdict)
	require.True(t, e.Reduced)
	require.LessOrEqual(t, e.Restarts, 2)
}

// A receiver that writes its values into its SQL has new texts in every run. Such texts teach
// without end, so that in the end nothing is concluded from them.
func TestTextsThatNeverRepeat(t *testing.T) {
	var n atomic.Int64
	b := explorer(t, func(ctx context.Context, dsn string) (lab.Receiver, error) {
		conn, err := pgx.Connect(ctx, dsn)
		return misbehaving(func(ctx context.Context) (lab.Answer, error) {
			_, err := conn.Exec(ctx, fmt.Sprintf(
				"UPDATE webhook_receipt SET attempts = 0 WHERE attempts = -%d", n.Add(1)))
			return lab.Done, err
		}), err
	})
	writes := lab.Does("update nothing",
		func(ctx context.Context, r lab.Receiver) (lab.Answer, error) {
			return r.Receive(ctx, lab.Delivery{})
		})
	e := b.Explore(t.Context(), lab.Exploration{Program: lab.Program{
		Name: "literals", Law: "who updates nothing changes nothing",
		Sessions: []lab.Actor{
			{Name: "one", Does: []lab.Act{writes}}, {Name: "other", Does: []lab.Act{writes}},
		},
	}})
	require.Equal(t, lab.VerdictValid, e.Verdict, "%v", e.Failures)
	require.False(t, e.Reduced)
	require.Equal(t, 2, e.Explored)
}

// Which of two waiters goes on first is a branch of the tree, and each is run.
func TestWakingIsABranch(t *testing.T) {
	b := explorer(t, scenarios.Snapshots)
	e := b.Explore(t.Context(), lab.Exploration{Program: of(t, "three_copies"), Whole: true})
	require.Equal(t, 396, e.Explored)
	require.Positive(t, e.Choices)
	require.Zero(t, e.Left)
}

package scenarios_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/postgres"
	"webhooklab/lab/report"
	"webhooklab/scenarios"
)

// Every flawed receiver is found from inputs alone: by exploration, else by cuts, else by gates. The
// line that is printed of it shows it again, with the same words and the same transcript each time.
//
// A few are tried; LAB_ALL tries all, LAB_RECEIVER those that it matches. LAB_REPLAYS says how often
// each line is replayed.
func TestFailingLineIsExact(t *testing.T) {
	ofTheLab(t)
	if testing.Short() {
		t.Skip("flawed receivers are left to the matrix under -short")
	}
	filter := os.Getenv("LAB_RECEIVER")
	if filter == "" && !wantsAll() {
		filter = "^(check_then_insert|where_not_exists|unconditional_advance|effect_outside_transaction)$"
	}
	rows, err := scenarios.Matrix(t.Context(), stage, scenarios.MatrixOptions{
		Receiver: filter, Seed: seed(), Inputs: true})
	require.NoError(t, err)
	times := max(1, replays(t, 3))
	rows = slices.DeleteFunc(rows, func(k report.Kill) bool { return k.Reference })
	require.NotEmpty(t, rows, "LAB_RECEIVER matches references only")
	for _, k := range rows {
		t.Run(k.Receiver, func(t *testing.T) {
			by := k.CaughtBy(report.Generic)
			require.Len(t, by, 1, k.Text())
			c := k.Cell(by[0])
			t.Logf("found after %.0f ms by %s, in %d schedules: %s", c.FoundMS, c.Judge, c.Schedules,
				c.Line)
			exact(t, k.Receiver, c, times)
		})
	}
}

// exact replays the line so often.
func exact(t *testing.T, receiver string, c report.Cell, times int) {
	suite, options, err := scenarios.SubjectNamed(receiver)
	require.NoError(t, err)
	s, err := lab.ParseSchedule(c.Line)
	require.NoError(t, err)
	_, p, err := scenarios.ProgramNamed(s.Program)
	require.NoError(t, err)
	if s.Acts != nil {
		p, err = p.Only(s.Acts)
		require.NoError(t, err)
	}
	options.Seed = s.Seed
	if c.Judge != report.BySweep {
		suite = scenarios.Explorable(suite)
	}
	b := bench(t, postgres.Fast, suite, options)
	began := time.Now()
	var first lab.Replayed
	for n := range times {
		r := b.Replay(t.Context(), p, s)
		require.Empty(t, r.NoFit)
		require.Equal(t, lab.VerdictInvalid, r.Report.Verdict, r.Report.String())
		if n == 0 {
			first = r
		}
		require.True(t, slices.ContainsFunc(r.Report.Offences, func(o lab.Offence) bool {
			return o.Law == c.Law
		}), "it breaks another law than %s: %v", c.Law, r.Report.Offences)
		require.Equal(t, first.Report.Offences, r.Report.Offences)
		require.Equal(t, first.Report.Transcript, r.Report.Transcript)
	}
	t.Logf("%d replays in %v: %s", times, time.Since(began), first.Report.Offences[0].Text)
}

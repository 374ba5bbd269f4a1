package report_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/report"
)

func flawedKill(cells ...report.Cell) report.Kill {
	return report.Kill{Receiver: "check_then_insert", Suite: "snapshots", Harm: "it comes again",
		Law: "one event makes one change", Cells: cells}
}

var (
	byOrders = report.Cell{Judge: report.ByExploration, Ruling: report.Caught, Named: true,
		By: "two_copies", Law: "one event makes one change", Text: "applied unknown", Schedules: 7,
		Line: "two_copies@1 first:COMMIT"}
	byAnother = report.Cell{Judge: report.BySweep, Ruling: report.Caught, By: "new_event",
		Law: "a sender is answered in the end", Text: "told nothing", Schedules: 3}
	usual    = report.Cell{Judge: report.InLoops, Ruling: report.Caught, Named: true, Schedules: 1}
	missed   = report.Cell{Judge: report.ByScenarios, Ruling: report.Missed, Schedules: 40}
	spotless = report.Cell{Judge: report.ByScenarios, Ruling: report.Clean, Schedules: 40}
	untold   = report.Cell{Judge: report.ByScenarios, Ruling: report.NoWord, Reason: "no server"}
)

func TestWhatIsWrongInAMatrix(t *testing.T) {
	reference := func(cells ...report.Cell) report.Kill {
		return report.Kill{Receiver: "snapshots", Suite: "snapshots", Reference: true, Cells: cells}
	}
	for _, c := range []struct {
		kill  report.Kill
		wrong string
	}{
		{flawedKill(missed, byOrders), ""},
		{flawedKill(missed), "it survives"},
		{flawedKill(missed, usual), "it survives"},
		{flawedKill(missed, byAnother), "it is only caught by laws that don't name its sin, as " +
			"new_event of sweep: new_event: told nothing"},
		{reference(spotless), ""},
		{reference(spotless, report.Cell{Judge: report.ByGates, Ruling: report.NotRun}), ""},
		{reference(byOrders), "exploration found the reference caught: two_copies: applied unknown"},
		{reference(untold), "scenarios found the reference unknown: no server"},
	} {
		require.Equal(t, c.wrong, c.kill.Wrong())
		require.Equal(t, c.wrong != "", report.AnyWrong([]report.Kill{c.kill}))
	}
	require.True(t, reference(untold).Unjudged())
	require.False(t, reference(untold, byOrders).Unjudged())
	require.False(t, reference(spotless).Unjudged())
	require.False(t, flawedKill(missed).Unjudged())
}

func TestMatrixIsTold(t *testing.T) {
	all := []report.Kill{
		{Receiver: "snapshots", Suite: "snapshots", Reference: true, Cells: []report.Cell{spotless}},
		flawedKill(missed, byOrders, byAnother,
			report.Cell{Judge: report.InTurn, Ruling: report.Missed, Schedules: 1},
			report.Cell{Judge: report.InLoops, Ruling: report.Missed, Schedules: 30}),
	}
	require.Equal(t, `snapshots: the reference
  scenarios          clean    40 schedules, 0 ms

check_then_insert (snapshots)
  harm: it comes again
  law:  one event makes one change
  scenarios          missed   40 schedules, 0 ms
  exploration        caught   two_copies, 7 schedules, 0 ms
    again: lab replay -receiver check_then_insert 'two_copies@1 first:COMMIT'
  sweep              caught   new_event, 3 schedules, 0 ms
    law:   a sender is answered in the end
  two copies in turn missed   1 schedule, 0 ms
  30 loops           missed   30 schedules, 0 ms

1 reference, 1 of 1 flawed receiver caught by the law that names them
caught by orders or cuts, and by no scenario: check_then_insert
survive the usual tests, two copies in turn and 30 loops: 1 of 1
`, report.KillsText(all))
	table := report.KillsMarkdown(all)
	require.Contains(t, table,
		"| `snapshots` | none: the reference of snapshots | ✓ |  |  |  |  |  |  |\n")
	require.Contains(t, table,
		"| `check_then_insert` | one event makes one change | – |  | 7 |  | (3) | – | – |\n")
}

// Of judges that nobody asked, nothing is said.
func TestMatrixOfSomeJudges(t *testing.T) {
	require.Equal(t, "0 references, 1 of 1 flawed receiver caught by the law that names them\n",
		report.KillsSummary([]report.Kill{flawedKill(byOrders)}))
}

func TestMatrixIsKeptAndDrawn(t *testing.T) {
	dir := t.TempDir()
	none, err := report.ReadKills(dir)
	require.NoError(t, err)
	require.Empty(t, none)
	row := flawedKill(missed, byOrders)
	row.Harm = "<script>alert(1)</script>"
	require.NoError(t, report.AppendKill(dir, row))
	got, err := report.ReadKills(dir)
	require.NoError(t, err)
	require.Equal(t, []report.Kill{row}, got)

	require.NoError(t, report.WritePage(dir, report.Run{}))
	text, err := os.ReadFile(filepath.Join(dir, "report.html"))
	require.NoError(t, err)
	page := string(text)
	require.Contains(t, page, `<section id="kills">`)
	require.Contains(t, page, "lab replay -receiver check_then_insert")
	require.NotContains(t, page, "<script>alert")
}

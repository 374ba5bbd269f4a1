package report_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/report"
)

func TestWhatWasExploredComesBack(t *testing.T) {
	dir := t.TempDir()
	none, err := report.ReadExplored(dir)
	require.NoError(t, err)
	require.Empty(t, none)
	want := report.Explored{
		Program: "two_copies", Suite: "snapshots", Verdict: lab.VerdictInvalid,
		Orders: 70, Explored: 12, Pruned: 50, Left: 8, Cells: 3, ElapsedMS: 1.5, Gates: 40,
		Control: &report.Explored{Program: "two_copies", Explored: 2},
		Failures: []report.ExploredFailure{{
			Line: "two_copies@1 a/COMMIT", Law: "one event, one change", Text: "two rows",
			Transcript: "a: COMMIT", Trace: &lab.Trace{Fresh: "~1~", Sessions: []string{"a"}},
		}},
		GivenUp: 2,
		Listed:  []lab.Order{{Line: "two_copies@1 a:COMMIT", Drawn: true, Verdict: lab.VerdictInvalid}},
		Ends:    []lab.End{{Answers: "applied duplicate", State: "events 1"}},
		CrashPoints: []report.CrashPoint{{Place: 1, Command: "COMMIT", Fault: "backend terminated",
			Transaction: "aborted", Told: "unknown", Again: "applied", Left: "as once"}},
	}
	require.NoError(t, report.AppendExplored(dir, want))
	got, err := report.ReadExplored(dir)
	require.NoError(t, err)
	require.Equal(t, []report.Explored{want}, got)
	require.Equal(t, "12 of 70 orders played, 50 branches pruned as equivalent, 8 branches left, "+
		"3 crash points struck, 40 stops at gates inside statements; "+
		"without gates valid, 2 orders played",
		want.Entry().Detail)
}

func TestABrokenExplorationIsABrokenLaw(t *testing.T) {
	r := report.Run{Entries: []report.Entry{held}}
	for verdict, want := range map[lab.Verdict]int{
		lab.VerdictValid: report.ExitHeld, lab.VerdictNotRun: report.ExitHeld,
		lab.VerdictUnknown: report.ExitUnjudged, lab.VerdictInvalid: report.ExitBroken,
	} {
		r.Explored = []report.Explored{{Program: "two_copies", Verdict: verdict}}
		code, reason := r.ExitCode()
		require.Equal(t, want, code, reason)
	}
}

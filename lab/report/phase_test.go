package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/report"
)

func TestTheFailingPhaseIsTheEndOfTheSteps(t *testing.T) {
	dir := t.TempDir()
	var steps strings.Builder
	for i := range 10 {
		fmt.Fprintf(&steps, "older: step %d\n", i)
	}
	r := run(lab.VerdictInvalid)
	r.Transcript = "scenario retry_during_commit\nlaw: one\n\n" + steps.String() +
		"(stopped: older was answered)\n\nevents: 0\n"
	r.Offences = []lab.Offence{{Verdict: lab.VerdictInvalid,
		Text: report.KeptScene("older was answered", dir+"/scenes/retry_during_commit.stepped-3")}}
	require.NoError(t, report.Save(dir, r, ".stepped-3"))

	e := report.Entry{Name: r.Scenario, Verdict: r.Verdict, Offences: r.Offences}
	require.Equal(t, dir+"/scenes/retry_during_commit.stepped-3", e.Scene())
	require.Equal(t, []string{"…", "older: step 3", "older: step 4", "older: step 5", "older: step 6",
		"older: step 7", "older: step 8", "older: step 9", "(stopped: older was answered)"},
		report.FailingPhase(dir, e))

	require.Empty(t, report.FailingPhase(t.TempDir(), e), "there is no transcript")
	e.Offences[0].Text = "older was answered"
	require.Empty(t, e.Scene())
	require.Empty(t, report.FailingPhase(dir, e))
}

package report_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/report"
)

var (
	held    = report.Entry{Suite: report.Scenario, Name: "held"}
	notRun  = report.Entry{Name: "skipped", Verdict: lab.VerdictNotRun, Reason: "no superuser"}
	unknown = report.Entry{Name: "unclear", Verdict: lab.VerdictUnknown}
	broken  = report.Entry{Name: "broken", Verdict: lab.VerdictInvalid}
	noFit   = report.Entry{Name: "old", Verdict: lab.VerdictUnknown, NoFit: true}
)

func TestExitCode(t *testing.T) {
	for name, c := range map[string]struct {
		entries     []report.Entry
		testsFailed bool
		want        int
	}{
		"all held":                          {[]report.Entry{held, held}, false, 0},
		"what was not run changes nothing":  {[]report.Entry{held, notRun}, false, 0},
		"a broken law":                      {[]report.Entry{held, broken}, true, 1},
		"broken outranks unknown and unfit": {[]report.Entry{unknown, noFit, broken}, true, 1},
		"unknown":                           {[]report.Entry{held, unknown}, true, 2},
		"unknown outranks unfit":            {[]report.Entry{noFit, unknown}, true, 2},
		"unfit":                             {[]report.Entry{noFit}, true, 3},
		"a failure that no verdict tells":   {[]report.Entry{held}, true, 2},
		"no verdict":                        {nil, false, 2},
		"nothing was run":                   {[]report.Entry{notRun}, false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			code, reason := report.ExitCode(c.entries, c.testsFailed)
			require.Equal(t, c.want, code, reason)
			require.NotEmpty(t, reason)
		})
	}
}

func TestTroubleIsNeverSuccess(t *testing.T) {
	r := report.Run{Entries: []report.Entry{held}, Trouble: "interrupted"}
	code, reason := r.ExitCode()
	require.Equal(t, report.ExitUnjudged, code)
	require.Equal(t, "interrupted", reason)

	r.Entries = append(r.Entries, broken)
	code, reason = r.ExitCode()
	require.Equal(t, report.ExitBroken, code)
	require.Contains(t, reason, "interrupted")
}

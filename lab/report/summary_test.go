package report_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/report"
)

var update = flag.Bool("update", false, "rewrite the golden summaries")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "run the tests with -update, and read what it wrote")
	require.Equal(t, string(want), got)
}

var clean = []report.Entry{
	{Suite: report.Scenario, Name: "first_delivery"},
	{Suite: report.Scenario, Name: "retry_during_commit", Overlaps: 1, MinOverlaps: 1},
	{Suite: report.Loop, Name: "retry_during_commit", Runs: 30, Overlaps: 30, MinOverlaps: 1},
	{Suite: report.Free, Name: "copies_released_together", Runs: 30, Overlaps: 840,
		MinOverlaps: 3},
	{Suite: report.Law, Name: "TestSequences", Runs: 10000, Overlaps: 7,
		Detail: "60,000 deliveries, 1,200 faults fired"},
	{Suite: report.Flawed, Name: "check_then_insert", Runs: 1},
	{Suite: report.Scenario, Name: "server_killed_before_commit", Verdict: lab.VerdictNotRun,
		Reason: "not run: this server is not the lab's to kill"},
	{Suite: report.Scenario, Name: "server_killed_after_ack", Verdict: lab.VerdictNotRun,
		Reason: "not run: this server is not the lab's to kill"},
}

func gate(entries ...report.Entry) report.Run {
	return report.Run{
		Server: "PostgreSQL 16.14 · image postgres:16.14 · fast", Seed: 42,
		Folder: "logs/20260102T030405Z-42", Elapsed: 93 * time.Second, Entries: entries,
	}
}

func TestSummaryOfARunThatHeld(t *testing.T) {
	golden(t, "summary_held.txt", report.Summary(gate(clean...)))
}

func TestSummaryOfARunThatFailed(t *testing.T) {
	r := gate(append(clean[:2:2],
		report.Entry{
			Suite: report.Free, Name: "copies_released_together", Runs: 30,
			Verdict: lab.VerdictInvalid, Law: "one event makes one change",
			Offences: []lab.Offence{
				{Verdict: lab.VerdictUnknown, Text: "loop 4: the sessions never overlapped"},
				{Verdict: lab.VerdictInvalid, Law: "acked means stored",
					Text: "loop 7:\n{\"event_id\": \"evt_paid\"}", At: "copies.go:17"},
				{Verdict: lab.VerdictInvalid, Text: "loop 9"},
			},
			Detail: "28 of 30 runs held",
		},
		report.Entry{
			Suite: report.Law, Name: "TestShuffled", Verdict: lab.VerdictUnknown,
			Reason: "the server went away",
		},
		report.Entry{
			Suite: report.Replay, Name: "retry", Verdict: lab.VerdictUnknown, NoFit: true,
			Replay: "retry@7 first/INSERT+it's",
			Offences: []lab.Offence{{Verdict: lab.VerdictUnknown,
				Text: "step 2 should be COMMIT but is ROLLBACK"}},
		})...)
	r.TestsFailed, r.FailedTests = true, []string{"TestFree/copies_released_together"}
	golden(t, "summary_failed.txt", report.Summary(r))
}

func TestSummaryOfAFailureWithoutAVerdict(t *testing.T) {
	r := gate(clean[0])
	r.TestsFailed, r.FailedTests = true, []string{"TestWire/tls_is_refused"}
	got := report.Summary(r)
	require.Contains(t, got, "UNKNOWN: the tests failed, and no verdict says why.")
	require.Contains(t, got, "TestWire/tls_is_refused")
}

func TestSummaryWithoutAServer(t *testing.T) {
	got := report.Summary(report.Run{Seed: 1, Trouble: "no PostgreSQL was found"})
	require.Contains(t, got, "UNKNOWN: no PostgreSQL was found.")
	require.Contains(t, got, "none was reached")
	require.NotContains(t, got, "PROVE")
}

func TestThirtyCleanLoopsBoundTheFailureRate(t *testing.T) {
	require.InDelta(t, 0.095, report.FailureBound(30), 0.0001)
	require.InDelta(t, 0.0003, report.FailureBound(10000), 0.00001)
	require.Equal(t, 1.0, report.FailureBound(0))
	require.InDelta(t, 0.95, report.FailureBound(1), 1e-9)
}

func TestTheBrokenComeFirstAmongFailures(t *testing.T) {
	got := report.Failures([]report.Entry{held, unknown, notRun, broken, noFit})
	require.Equal(t, []report.Entry{broken, unknown, noFit}, got)
}

package report_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/report"
)

func TestAnEntryComesBackAsItWasAppended(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	want := report.Entry{
		Suite: report.Loop, Name: "retry_during_commit", Law: "one event, one change",
		Verdict:  lab.VerdictInvalid,
		Offences: []lab.Offence{{Verdict: lab.VerdictInvalid, Text: "two rows", At: "a.go:1"}},
		Runs:     30, Overlaps: 60, MinOverlaps: 2, Elapsed: time.Second,
		Waits: []lab.ProvedWait{{
			Session: "retry", Command: "INSERT", For: []string{"first"},
			Wait: lab.Wait{PID: 7, Blockers: []uint32{8}, LockType: "transactionid"},
		}},
		Replay: "retry_during_commit@1 first/COMMIT",
	}
	require.NoError(t, report.Append(dir, want))
	got, err := report.Read(dir)
	require.NoError(t, err)
	require.Equal(t, []report.Entry{want}, got)
}

func TestEntriesOfManyWritersStayWhole(t *testing.T) {
	dir := t.TempDir()
	var writers sync.WaitGroup
	for i := range 20 {
		writers.Go(func() {
			name := strconv.Itoa(i) + strings.Repeat("x", 9000)
			for range 10 {
				if err := report.Append(dir, report.Entry{Name: name}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	got, err := report.Read(dir)
	require.NoError(t, err)
	require.Len(t, got, 200)
}

func TestNoFolderKeepsNothing(t *testing.T) {
	require.NoError(t, report.Append("", report.Entry{}))
	require.NoError(t, report.Save("", lab.Report{}, ""))
	got, err := report.Read(t.TempDir())
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestABrokenLineIsNamed(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, report.Append(dir, report.Entry{Name: "whole"}))
	file := filepath.Join(dir, "verdicts.jsonl")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, append(text, `{"suite":`...), 0o644))
	got, err := report.Read(dir)
	require.ErrorContains(t, err, "line 2")
	require.Len(t, got, 1)
}

package report_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/report"
)

func run(v lab.Verdict) lab.Report {
	return lab.Report{
		Scenario: "retry_during_commit", Law: "one event, one change", Verdict: v,
		Transcript: "scenario retry_during_commit\n", History: lab.NewHistory(),
		Waits: []lab.ProvedWait{{Session: "retry", For: []string{"first"}}}, Overlaps: 2,
		Schedule: "retry_during_commit@1 first/COMMIT", Elapsed: 1500 * time.Microsecond,
	}
}

func files(t *testing.T, dir string) (found []string) {
	require.NoError(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			p, err = filepath.Rel(dir, p)
			found = append(found, filepath.ToSlash(p))
		}
		return err
	}))
	return found
}

func TestSaveKeepsTranscriptHistoryAndLocks(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, report.Save(dir, run(lab.VerdictValid), ""))
	require.Equal(t, []string{
		"histories/retry_during_commit.jsonl",
		"locks/retry_during_commit.json",
		"transcripts/retry_during_commit.txt",
	}, files(t, dir))
	text, err := os.ReadFile(filepath.Join(dir, "transcripts", "retry_during_commit.txt"))
	require.NoError(t, err)
	require.Equal(t, "scenario retry_during_commit\n", string(text))
}

func TestOnlyALoopThatFailedHasFiles(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, report.Save(dir, run(lab.VerdictValid), ".stepped-1"))
	require.Equal(t, []string{"loops.jsonl"}, files(t, dir))
	line, err := os.ReadFile(filepath.Join(dir, "loops.jsonl"))
	require.NoError(t, err)
	require.Contains(t, string(line), `"loop":"stepped-1","verdict":"valid","overlaps":3`)

	require.NoError(t, report.Save(dir, run(lab.VerdictUnknown), ".stepped-2"))
	require.Contains(t, files(t, dir), "transcripts/retry_during_commit.stepped-2.txt")
}

func TestNoNameLeavesTheFolder(t *testing.T) {
	dir := t.TempDir()
	r := run(lab.VerdictValid)
	r.Scenario = "../../etc/a b"
	require.NoError(t, report.Save(filepath.Join(dir, "in"), r, ""))
	require.Contains(t, files(t, dir), "in/transcripts/.._.._etc_a_b.txt")
}

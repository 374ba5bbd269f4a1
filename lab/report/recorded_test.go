package report_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/report"
)

// The recorded run is evidence: of a run that held, on a server that it names, and of nothing that
// only one machine has.
func TestTheRecordedRunIsConsistent(t *testing.T) {
	dir := filepath.Join("..", "..", "logs", "recorded")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no run is recorded; ./run_lab.sh --record makes one")
	}
	summary, err := os.ReadFile(filepath.Join(dir, "summary.txt"))
	require.NoError(t, err)
	require.Regexp(t, `^PASS: `, string(summary))
	require.Regexp(t, `(?m)^server +PostgreSQL 1[4-8]\.`, string(summary))
	require.Regexp(t, `(?m)^seed +\d+$`, string(summary))

	entries, err := report.Read(dir)
	require.NoError(t, err)
	code, reason := report.ExitCode(entries, false)
	require.Equal(t, report.ExitHeld, code, reason)
	for _, e := range entries {
		require.Contains(t, []lab.Verdict{lab.VerdictValid, lab.VerdictNotRun}, e.Verdict, e.Name)
		if e.Suite == report.Scenario && e.Verdict == lab.VerdictValid {
			require.FileExists(t, filepath.Join(dir, "transcripts", e.Name+".txt"))
		}
	}
	size := 0
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, p))
		size += len(text)
		require.NotRegexp(t, `(^|[\s"'(=])/(usr|home|root|tmp|var|opt|dev|Users)/`,
			string(text), p)
		require.NotRegexp(t, `postgres(ql)?://`, string(text), p)
		return err
	}))
	require.Less(t, size, 200_000)
}

package report_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/report"
)

func TestARunLeavesItsTrace(t *testing.T) {
	dir := t.TempDir()
	r := run(lab.VerdictValid)
	require.NoError(t, report.Save(dir, r, ""))
	require.NoDirExists(t, filepath.Join(dir, "traces"), "without a trace there is none to keep")
	r.Trace = &lab.Trace{Sessions: []string{"first"}}
	require.NoError(t, report.Save(dir, r, ""))
	require.NoError(t, report.Save(dir, r, ".stepped-1"))
	r.Verdict = lab.VerdictInvalid
	require.NoError(t, report.Save(dir, r, ".stepped-2"))
	require.NoError(t, report.Save(dir, r, ".free-3"))
	require.NoError(t, report.SavePlay(dir, report.Flawed, "check_then_insert", r))
	kept, err := os.ReadDir(filepath.Join(dir, "traces"))
	require.NoError(t, err)
	var names []string
	for _, f := range kept {
		names = append(names, f.Name())
	}
	require.Equal(t, []string{
		"flawed.check_then_insert.json",
		"free.retry_during_commit.free-3.json",
		"loop.retry_during_commit.stepped-2.json",
		"scenario.retry_during_commit.json",
	}, names)
}

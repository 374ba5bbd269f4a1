package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/report"
)

func recording(t *testing.T, entries ...report.Entry) *gate {
	root := t.TempDir()
	g := &gate{root: root, dir: filepath.Join(root, "logs", "run"), out: &bytes.Buffer{}}
	g.result = report.Run{
		Server: "PostgreSQL 16.14 · local binary /usr/lib/postgresql/16/bin/postgres · fast",
		Seed:   7, Folder: "/somewhere/else", Entries: entries,
	}
	require.NoError(t, os.MkdirAll(filepath.Join(g.dir, "transcripts"), 0o755))
	told := filepath.Join(g.dir, "transcripts", "retry.txt")
	require.NoError(t, os.WriteFile(told, []byte("scenario retry\n"), 0o644))
	return g
}

func TestARecordNamesTheServerAndNoPath(t *testing.T) {
	g := recording(t, report.Entry{
		Suite: report.Scenario, Name: "retry", Detail: "see (/tmp/a-b/c.txt) and 1/2",
		Waits: []lab.ProvedWait{{Session: "retry"}},
	})
	kept := filepath.Join(g.root, "logs", "recorded")
	require.NoError(t, os.MkdirAll(filepath.Join(kept, "old"), 0o755))
	require.NoError(t, g.keepRecord())
	require.NoDirExists(t, filepath.Join(kept, "old"))
	require.FileExists(t, filepath.Join(kept, "transcripts", "retry.txt"))
	summary, err := os.ReadFile(filepath.Join(kept, "summary.txt"))
	require.NoError(t, err)
	require.Contains(t, string(summary), "PostgreSQL 16.14 · local binary postgres · fast")
	require.NotContains(t, string(summary), "/somewhere")

	entries, err := report.Read(kept)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.Equal(t, "see (c.txt) and 1/2", entries[0].Detail)
	require.Empty(t, entries[0].Waits)
	require.NotEmpty(t, g.result.Entries[0].Waits, "the run's own entries stay as they were")
}

func TestNothingIsRecordedOfARunThatDidNotHold(t *testing.T) {
	g := recording(t, report.Entry{Verdict: lab.VerdictUnknown})
	require.ErrorContains(t, g.keepRecord(), "did not hold")
	require.NoDirExists(t, filepath.Join(g.root, "logs", "recorded"))
}

func TestALongTranscriptIsCutAndSaysSo(t *testing.T) {
	exact := strings.Repeat("line\n", transcriptLines)
	require.Equal(t, exact, string(cut([]byte(exact))))
	require.Equal(t, exact+"… (2 more lines)\n", string(cut([]byte(exact+"a\nb\n"))))
}

func TestARecordThatIsTooHeavyIsRefused(t *testing.T) {
	g := recording(t, report.Entry{Name: "retry", Detail: strings.Repeat("x", recordBound)})
	require.ErrorContains(t, g.keepRecord(), "weighs")
	require.NoDirExists(t, filepath.Join(g.root, "logs", "recorded"))
}

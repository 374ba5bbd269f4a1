package report_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/report"
)

func TestATailReadsEachVerdictOnceAndNoHalfOnes(t *testing.T) {
	dir := t.TempDir()
	tail := report.Follow(dir)
	entries, programs := tail.Next()
	require.Empty(t, entries)
	require.Empty(t, programs)

	require.NoError(t, report.Append(dir, report.Entry{Name: "one"}))
	require.NoError(t, report.AppendExplored(dir, report.Explored{Program: "two"}))
	entries, programs = tail.Next()
	require.Equal(t, []report.Entry{{Name: "one"}}, entries)
	require.Len(t, programs, 1)

	f, err := os.OpenFile(filepath.Join(dir, "verdicts.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	defer f.Close()
	write := func(text string) {
		_, err := f.WriteString(text)
		require.NoError(t, err)
	}
	write("no verdict\n" + `{"name":"thr`)
	entries, programs = tail.Next()
	require.Empty(t, entries)
	require.Empty(t, programs)
	write(`ee","verdict":"valid"}` + "\n")
	entries, _ = tail.Next()
	require.Equal(t, []report.Entry{{Name: "three"}}, entries)
}

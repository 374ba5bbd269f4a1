package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/report"
)

func TestMatrixCommandLine(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"-h"}, report.ExitHeld, "usage: lab matrix"},
		{[]string{"more"}, report.ExitUnjudged, `unexpected argument "more"`},
		{[]string{"-json", "-markdown"}, report.ExitUnjudged, "exclude each other"},
		{[]string{"-receiver", "("}, report.ExitUnjudged, "missing closing )"},
		{[]string{"-receiver", "^nobody$"}, report.ExitUnjudged, "no receiver matches"},
	} {
		var out, errs bytes.Buffer
		require.Equal(t, c.code, command(append([]string{"matrix"}, c.args...), &out, &errs), c.args)
		require.Contains(t, out.String()+errs.String(), c.says)
	}
}

// One flawed receiver is heard by all judges, and the rows are kept.
func TestMatrixOfOne(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("LAB_LOGS", dir)
	var out, errs bytes.Buffer
	code := command([]string{"matrix", "-json", "-short", "-receiver", "^no_row_is_an_error$"},
		&out, &errs)
	require.Equal(t, report.ExitHeld, code, errs.String())
	var row report.Kill
	require.NoError(t, json.Unmarshal(out.Bytes(), &row))
	require.Len(t, row.Cells, len(report.Judges))
	require.Contains(t, row.CaughtBy(report.Strong), report.ByExploration)
	kept, err := report.ReadKills(dir)
	require.NoError(t, err)
	require.Equal(t, []report.Kill{row}, kept)
}

func TestMatrixExitCodes(t *testing.T) {
	survivor := report.Kill{Receiver: "ack_before_commit"}
	unjudged := report.Kill{Reference: true, Cells: []report.Cell{{Ruling: report.NoWord}}}
	clean := report.Kill{Reference: true, Cells: []report.Cell{{Ruling: report.Clean}}}
	require.Equal(t, report.ExitHeld, killsCode([]report.Kill{clean}))
	require.Equal(t, report.ExitUnjudged, killsCode([]report.Kill{clean, unjudged}))
	require.Equal(t, report.ExitBroken, killsCode([]report.Kill{unjudged, survivor}))
	require.Equal(t, report.ExitBroken, killsCode([]report.Kill{survivor, unjudged}))
}

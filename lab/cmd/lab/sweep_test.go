package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/report"
)

func TestSweepArguments(t *testing.T) {
	w, err := parseSweeping([]string{"-receiver", "leased", "-program", "work", "-server-kills"})
	require.NoError(t, err)
	require.Len(t, w.programs(true), 1)
	require.NotNil(t, w.process, "a reference is also started as a process")

	w, err = parseSweeping([]string{"-receiver", "ack_before_commit"})
	require.NoError(t, err)
	require.Nil(t, w.process, "what is broken on purpose is no process")
	require.Less(t, len(w.programs(true)), len(w.programs(false)), "pairs are not swept by kills")

	for _, wrong := range [][]string{
		{"-receiver", "nobody"}, {"-program", "nothing"}, {"rest"}, {"-seed", "x"},
	} {
		_, err := parseSweeping(wrong)
		require.Error(t, err, "%v", wrong)
	}
}

func TestProgressOfCells(t *testing.T) {
	require.Equal(t, "7 cells", progressOfCells(7, 0, time.Second))
	require.Equal(t, "10 of 100 cells, about 20 s left", progressOfCells(10, 100, 2*time.Second))
}

func TestABrokenLawOutranksWhatCouldNotBeJudged(t *testing.T) {
	require.Equal(t, report.ExitBroken, worseOf(report.ExitUnjudged, report.ExitBroken))
	require.Equal(t, report.ExitUnjudged, worseOf(report.ExitHeld, report.ExitUnjudged))
	require.Equal(t, report.ExitHeld, worseOf(report.ExitHeld, report.ExitHeld))
}

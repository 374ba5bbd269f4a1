package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/report"
)

func TestReceiverSaysWhatItWants(t *testing.T) {
	t.Setenv("DATABASE_URL", "")
	for says, args := range map[string][]string{
		"the name of one suite":      {},
		"without door":               {"nobody"},
		`no receiver "door"`:         {"door"},
		"DATABASE_URL is not set":    {"snapshots"},
		"want the name of one suite": {"snapshots", "emails"},
	} {
		var out, errs strings.Builder
		code := receiverCommand(args, strings.NewReader(""), &out, &errs)
		require.Equal(t, report.ExitUnjudged, code)
		require.Contains(t, errs.String(), says)
		require.Empty(t, out.String())
	}
}

func TestReceiverServesUntilItsInputEnds(t *testing.T) {
	t.Setenv("DATABASE_URL", "postgres://nobody@127.0.0.1:1/nothing")
	var out, errs strings.Builder
	asked := `{"id":1,"do":"receive","delivery":{"source":"shop"}}` + "\n"
	code := receiverCommand([]string{"snapshots"}, strings.NewReader(asked), &out, &errs)
	require.Equal(t, report.ExitHeld, code, errs.String())
	require.Contains(t, out.String(), `"id":1`)
}

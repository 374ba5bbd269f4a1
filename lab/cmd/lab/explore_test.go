package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/report"
)

// lab runs one command line and gives its code, output and messages.
func labCommand(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	t.Setenv("LAB_POSTGRES", "local")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	var o, e bytes.Buffer
	code = command(args, &o, &e)
	return code, o.String(), e.String()
}

var duration = regexp.MustCompile(`\b[0-9.]+(ms|µs|m?s)\b`)

// A broken receiver is found, shrunk, and shown again by the printed line; the reference follows the
// same line and holds, and another receiver no longer fits it. The README shows both outputs.
func TestExploreAndReplay(t *testing.T) {
	inScratch(t)
	code, out, errs := labCommand(t, "explore", "-receiver", "unconditional_advance",
		"-program", "two_revisions", "-stop", "1")
	require.Equal(t, report.ExitBroken, code, errs)
	keep(t, "explore.txt", out)

	line := regexp.MustCompile(`again: lab replay -receiver unconditional_advance '(.*)'`).FindStringSubmatch(out)
	require.NotNil(t, line, out)
	code, again, errs := labCommand(t, "replay", "-receiver", "unconditional_advance", line[1])
	require.Equal(t, report.ExitBroken, code, errs)
	require.Contains(t, again, "two_revisions: invalid")

	code, out, errs = labCommand(t, "replay", "-receiver", "check_then_insert", line[1])
	require.Equal(t, report.ExitNoFit, code, errs)
	require.Contains(t, out, "the schedule no longer fits: step 1 is ")

	code, out, errs = labCommand(t, "replay", line[1])
	require.Equal(t, report.ExitHeld, code, out+errs)
}

// The reference holds in all orders, and says how many there were.
func TestExploreTheReference(t *testing.T) {
	inScratch(t)
	code, out, errs := labCommand(t, "explore", "-sessions", "2", "-receiver", "snapshots")
	require.Equal(t, report.ExitHeld, code, out+errs)
	keep(t, "explore_reference.txt", out)
	code, out, errs = labCommand(t, "explore", "-json", "-program", "two_copies", "-shard", "1/2")
	require.Equal(t, report.ExitHeld, code, errs)
	require.Contains(t, out, `"program":"two_copies"`)
}

// What can't be run is refused, with what could be.
func TestExploreRefuses(t *testing.T) {
	for _, c := range []struct {
		args []string
		word string
	}{
		{[]string{"explore", "-receiver", "carrier_pigeon"}, "want one of snapshots"},
		{[]string{"explore", "-program", "no_such"}, "two_copies"},
		{[]string{"explore", "-shard", "3/2"}, "want i/n"},
		{[]string{"explore", "more"}, "unexpected argument"},
		{[]string{"replay"}, "the schedule is missing"},
		{[]string{"replay", "two_copies"}, "name@seed"},
		{[]string{"replay", "no_such@1 first:COMMIT"}, "there is no program"},
		{[]string{"replay", "two_copies[none.1]@1 first:COMMIT"}, "has not all of the acts"},
	} {
		code, _, errs := labCommand(t, c.args...)
		require.Equal(t, report.ExitUnjudged, code, c.args)
		require.Contains(t, errs, c.word, c.args)
	}
	code, out, _ := labCommand(t, "explore", "-h")
	require.Equal(t, report.ExitHeld, code)
	require.Equal(t, exploreHelp, out)
}

// inScratch keeps what fails out of the project's logs.
func inScratch(t *testing.T) {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	t.Setenv("LAB_TEST_DATA", filepath.Join(dir, "testdata"))
	t.Setenv("LAB_ROOT", "")
	t.Chdir(t.TempDir())
}

// keep holds an output against what the README shows, without what varies.
func keep(t *testing.T, name, out string) {
	t.Helper()
	file := filepath.Join(os.Getenv("LAB_TEST_DATA"), name)
	out = duration.ReplaceAllString(out, "…")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(out), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "run the tests with -update, and read what it wrote")
	require.Equal(t, string(want), strings.TrimRight(out, " "))
}

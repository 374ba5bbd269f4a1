package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/report"
)

func TestDefaults(t *testing.T) {
	o, err := parse(nil)
	require.NoError(t, err)
	require.Equal(t, 30, o.loops)
	require.Equal(t, 10000, o.sequences)
	other, err := parse(nil)
	require.NoError(t, err)
	require.NotEqual(t, o.seed, other.seed)
}

func TestShortIsOnlyADefault(t *testing.T) {
	o, err := parse([]string{"--short", "--loops", "7"})
	require.NoError(t, err)
	require.Equal(t, 7, o.loops)
	require.Equal(t, 300, o.sequences)
}

func TestAReplayBringsItsSeed(t *testing.T) {
	line := "retry_during_commit@41 first:INSERT+webhook_inbox first:COMMIT!ack=FIN"
	o, err := parse([]string{"--replay", line + "\n"})
	require.NoError(t, err)
	require.Equal(t, uint64(41), o.seed)
	require.Equal(t, line, o.replay)

	o, err = parse([]string{"--replay", line, "--seed", "7"})
	require.NoError(t, err)
	require.Equal(t, uint64(7), o.seed)
}

func TestBadUsageIsRefusedByName(t *testing.T) {
	for args, want := range map[string]string{
		"--loops 0":                       "--loops 0",
		"--loops many":                    "-loops",
		"--sequences -1":                  "--sequences -1",
		"--seed -1":                       "--seed",
		"--seed 18446744073709551616":     "--seed",
		"--scenario (":                    "--scenario",
		"--law [":                         "--law",
		"--replay first/COMMIT":           "--replay",
		"--replay a@99999999999999999999": "--seed",
		"--scenario a --law b":            "exclude each other",
		"--scenario a --record":           "--record keeps whole runs",
		"--nothing":                       "nothing",
		"more":                            `"more"`,
	} {
		t.Run(args, func(t *testing.T) {
			_, err := parse(strings.Fields(args))
			require.ErrorContains(t, err, want)
		})
	}
	_, err := parse([]string{"--scenario", ""})
	require.ErrorContains(t, err, "empty")
}

func TestBadUsageEndsInTwoWithTheHelpOnStandardError(t *testing.T) {
	for _, args := range [][]string{{}, {"walk"}, {"run", "--loops", "0"}} {
		var out, errs bytes.Buffer
		require.Equal(t, 2, command(args, &out, &errs))
		require.Empty(t, out.String())
		require.NotEmpty(t, errs.String())
	}
}

func TestHelpTellsOptionsAndExitCodes(t *testing.T) {
	for _, args := range [][]string{{"run", "--help"}, {"run", "-h"}} {
		var out, errs bytes.Buffer
		require.Equal(t, 0, command(args, &out, &errs))
		require.Empty(t, errs.String())
		for _, word := range []string{"--loops", "--replay", "Exit codes", "LAB_POSTGRES"} {
			require.Contains(t, out.String(), word)
		}
	}
}

// The list of commands is that of the commands there are, and each has a help of its own.
func TestEveryCommandIsListed(t *testing.T) {
	var out, errs bytes.Buffer
	require.Equal(t, report.ExitHeld, command([]string{"help"}, &out, &errs))
	listed := regexp.MustCompile(`(?m)^  ([a-z]+) `).FindAllStringSubmatch(out.String(), -1)
	require.Len(t, listed, 10)
	for _, m := range listed {
		if m[1] == "install" {
			continue // it has no options
		}
		var help bytes.Buffer
		require.Equal(t, report.ExitHeld, command([]string{m[1], "--help"}, &help, &errs), m[1])
		require.Contains(t, help.String(), "usage: ", m[1])
	}
	require.Equal(t, report.ExitUnjudged, command([]string{"fly"}, &out, &errs))
	require.Contains(t, errs.String(), `there is no command "fly"`)
}

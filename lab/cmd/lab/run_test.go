package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// A builtLab is the real command, as a process of its own.
type builtLab struct{ path, logs string }

func buildLab(t *testing.T) builtLab {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts servers and the whole chain of tests")
	}
	lab := builtLab{filepath.Join(t.TempDir(), "lab"), t.TempDir()}
	built, err := exec.Command("go", "build", "-o", lab.path, ".").CombinedOutput()
	require.NoError(t, err, string(built))
	return lab
}

// command is a run of the lab in an environment without what would change how it is shown.
func (l builtLab) command(env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(l.path, append([]string{"run", "--logs", l.logs}, args...)...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{"CI", "TERM", "NO_COLOR"}, name) ||
			strings.HasPrefix(name, "GITHUB_")
	})
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

// onTerminal runs the command on a pseudo-terminal and returns all that was written to it.
func onTerminal(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 100})
	require.NoError(t, err)
	defer screen.Close()
	text, _ := io.ReadAll(screen) // it ends with an error when the other side is closed
	require.NoError(t, cmd.Wait(), string(text))
	return string(text)
}

const oneScenario = "--scenario=^retry_during_commit$"

func TestOnATerminalThereAreBarsAndColours(t *testing.T) {
	lab := buildLab(t)
	for _, wanted := range []bool{true, false} {
		env := []string{"TERM=xterm-256color"}
		if !wanted {
			env = append(env, "NO_COLOR=1")
		}
		text := onTerminal(t, lab.command(env, oneScenario, "--loops", "2"))
		require.Contains(t, text, "\x1b[J", "bars are drawn anew")
		require.Contains(t, text, "Ctrl-C stops")
		require.Equal(t, wanted, strings.Contains(text, green+"held"), text)
		read := withoutEscapes(text)
		for _, want := range []string{"server PostgreSQL", "loop      retry_during_commit",
			"scenario  retry_during_commit", "\r\nPASS: all that was run held."} {
			require.Contains(t, read, want)
		}
		_, end, _ := strings.Cut(text, "PASS: all")
		require.NotContains(t, end, "\x1b", "the bars are gone")
	}
}

func TestWhatIsATerminal(t *testing.T) {
	screen, person, err := pty.Open()
	require.NoError(t, err)
	defer screen.Close()
	defer person.Close()
	t.Setenv("CI", "")
	t.Setenv("TERM", "xterm")
	require.True(t, isTerminal(person))

	file, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer file.Close()
	require.False(t, isTerminal(file))
	require.False(t, isTerminal(io.Discard))
	t.Setenv("TERM", "dumb")
	require.False(t, isTerminal(person))
	t.Setenv("TERM", "")
	require.False(t, isTerminal(person))
	t.Setenv("TERM", "xterm")
	t.Setenv("CI", "true")
	require.False(t, isTerminal(person))
}

// fields are the values of one JSON line.
type fields = map[string]any

func jsonRun(t *testing.T, want int, cmd *exec.Cmd) (told []fields, human string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Run() //nolint:errcheck // the exit code tells
	require.Equal(t, want, cmd.ProcessState.ExitCode(), errs.String())
	for line := range strings.Lines(out.String()) {
		var f fields
		require.NoError(t, json.Unmarshal([]byte(line), &f), line)
		told = append(told, f)
	}
	return told, errs.String()
}

func events(told []fields) (names []string) {
	for _, f := range told {
		names = append(names, f["event"].(string))
	}
	return names
}

// One finding through its life: met, met again, mended. Each time a program and GitHub are told.
func TestAFindingIsKnownAgain(t *testing.T) {
	lab := buildLab(t)
	page := filepath.Join(t.TempDir(), "step.md")
	github := []string{"GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY=" + page}
	misfit := []string{"--json", "--replay", "retry_during_commit@7 first/SELECT"}

	told, human := jsonRun(t, 3, lab.command(github, misfit...))
	require.Equal(t, []string{"started", "server", "scenario", "summary"}, events(told))
	require.Equal(t, []any{7.0, 1.0}, []any{told[0]["seed"], told[0]["format"]})
	require.Contains(t, told[1]["server"], "PostgreSQL")
	require.Equal(t, []any{"replay", "retry_during_commit", true},
		[]any{told[2]["suite"], told[2]["name"], told[2]["no_fit"]})
	require.Contains(t, told[2]["again"], "./run_lab.sh --replay 'retry_during_commit@7 ")
	require.Equal(t, []any{3.0, "NO FIT"}, []any{told[3]["code"], told[3]["verdict"]})
	require.Equal(t, map[string]int{"new": 1}, found(told[3]))
	require.Contains(t, human, "\n::error file=scenarios/retry_during_commit.go,line=")
	require.Contains(t, human, "NO FIT      replay    retry_during_commit")

	told, human = jsonRun(t, 3, lab.command(nil, misfit...))
	require.Equal(t, map[string]int{"still": 1}, found(told[3]))
	require.NotContains(t, human, "::error")
	require.NotContains(t, human, "\x1b")
	known := filepath.Join(t.TempDir(), "known.jsonl")
	text, err := os.ReadFile(filepath.Join(lab.logs, "latest", "findings.jsonl"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(known, text, 0o644))

	told, _ = jsonRun(t, 0, lab.command(nil, "--json", "--baseline", known, oneScenario, "--loops", "1"))
	require.Equal(t, map[string]int{"fixed": 1}, found(told[len(told)-1]))
	require.Equal(t, []string{"started", "server", "scenario", "scenario", "summary"}, events(told))

	md, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(md), "## webhooklab: NO FIT"), "appended once")
	for _, file := range []string{"summary.md", "junit.xml", "findings.jsonl", "tests.jsonl",
		"report.html", "guarantees.html"} {
		require.FileExists(t, filepath.Join(lab.logs, "latest", file))
	}
	_, human = jsonRun(t, 2, lab.command(nil, "--json", "--baseline", known+".not"))
	require.Contains(t, human, "there is no such file")
}

// found counts the findings of a summary.
func found(summary fields) map[string]int {
	n := map[string]int{}
	for kind, list := range summary["findings"].(fields) {
		if all, ok := list.([]any); ok && len(all) > 0 {
			n[kind] = len(all)
		}
	}
	return n
}

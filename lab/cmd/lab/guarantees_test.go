package main

import (
	"bytes"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/report"
	"webhooklab/scenarios"
)

// runGuarantees runs the command outside of the repository.
func runGuarantees(t *testing.T, args ...string) (int, string, string) {
	t.Helper()
	t.Chdir(t.TempDir())
	var out, errs bytes.Buffer
	code := command(append([]string{"guarantees"}, args...), &out, &errs)
	return code, out.String(), errs.String()
}

// A page to read in review: that of the smallest contract.
func TestGuaranteesOfTheOutbox(t *testing.T) {
	golden, err := filepath.Abs(filepath.Join("testdata", "guarantees_outbox.md"))
	require.NoError(t, err)
	code, out, errs := runGuarantees(t, "-suite", "outbox", "-format", "markdown")
	require.Zero(t, code, errs)
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(out), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err, "run the tests with -update, and read what it wrote")
	require.Equal(t, string(want), out, "run the tests with -update, and read what it wrote")
}

// Both forms hold every promise, scenario, sinner, law and limit.
func TestGuaranteesHoldEverything(t *testing.T) {
	_, page, _ := runGuarantees(t)
	_, markdown, _ := runGuarantees(t, "-format", "markdown")
	for form, text := range map[string]string{"html": page, "markdown": unescaped(markdown)} {
		has := func(what string) { require.Contains(t, text, what, form) }
		text = html.UnescapeString(text)
		for _, suite := range scenarios.Suites {
			has(suite.Title)
			for _, sc := range suite.Scenarios {
				has(sc.Law)
				has(sc.Name)
				if transcript, there := scenarios.Transcript(sc.Name); there {
					has(strings.TrimSpace(transcript))
				}
			}
			for _, law := range suite.Laws {
				has(strings.TrimSpace(law.SQL))
			}
			for _, limit := range suite.NotPromised {
				has(limit)
			}
		}
		for _, sinner := range scenarios.Sinners {
			has(sinner.Harm)
		}
		for _, limit := range scenarios.NotPromised {
			has(limit)
		}
	}
}

// unescaped is Markdown's text without what keeps it from being more.
func unescaped(text string) string {
	for _, c := range []string{"|", "`", "*", "_", "[", "]", "#", "~", "\\"} {
		text = strings.ReplaceAll(text, "\\"+c, c)
	}
	return text
}

func TestGuaranteesOfARunThatIsKept(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "20260102-7"), 0o755))
	require.NoError(t, os.Symlink("20260102-7", filepath.Join(dir, "latest")))
	g := gate{dir: filepath.Join(dir, "latest")}
	g.result = report.Run{Server: "PostgreSQL 15.18", Seed: 7, Entries: []report.Entry{
		{Suite: report.Scenario, Name: "outbox_sent_once"},
		{Suite: report.Scenario, Name: "outbox_same_key", Verdict: lab.VerdictInvalid},
	}}
	for _, e := range g.result.Entries {
		require.NoError(t, report.Append(g.dir, e))
	}
	require.NoError(t, g.keepResults())
	kept, err := os.ReadFile(filepath.Join(g.dir, "guarantees.html"))
	require.NoError(t, err)
	require.Contains(t, string(kept), `<code>outbox_same_key</code> <span class="state broken">`)

	file := filepath.Join(t.TempDir(), "page.md")
	code, out, errs := runGuarantees(t, "-run", g.dir, "-format", "markdown", "-o", file)
	require.Zero(t, code, errs)
	require.Empty(t, out)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, want := range []string{"FAIL: a law was broken", "PostgreSQL 15.18", "/20260102-7 |",
		"`outbox_sent_once` (held)", "`outbox_same_key` (broken)", "`first_delivery` (not in this run)"} {
		require.Contains(t, string(text), want)
	}
}

func TestGuaranteesFaults(t *testing.T) {
	for says, args := range map[string][]string{
		`want one of snapshots`:     {"-suite", "nothing"},
		`want html or markdown`:     {"-format", "pdf"},
		`unexpected argument "x"`:   {"x"},
		`no folder of a run`:        {"-run", "nowhere"},
		`not/there`:                 {"-o", "not/there"},
		`flag provided but not def`: {"-what"},
	} {
		code, out, errs := runGuarantees(t, args...)
		require.Equal(t, report.ExitUnjudged, code, says)
		require.Contains(t, errs, says)
		require.Empty(t, out)
	}
	code, out, _ := runGuarantees(t, "-h")
	require.Zero(t, code)
	require.Equal(t, guaranteesHelp, out)
}

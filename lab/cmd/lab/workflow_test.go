package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

type workflowFile struct {
	On   map[string]any
	Jobs map[string]struct {
		RunsOn string `yaml:"runs-on"`
		Steps  []struct {
			Uses, Run, If string
			With          map[string]string
		}
	}
}

// The workflow that the README shows does what it says: its actions are pinned, its commands are
// there and take these arguments, and what is kept is what a run leaves.
func TestTheWorkflowRuns(t *testing.T) {
	text, err := os.ReadFile("testdata/workflow.yaml")
	require.NoError(t, err)
	var w workflowFile
	require.NoError(t, yaml.Unmarshal(text, &w))
	require.NotEmpty(t, w.On)
	require.Len(t, w.Jobs, 1)
	checkout := standIn(t)
	var uses []string
	for _, job := range w.Jobs {
		require.NotEmpty(t, job.RunsOn)
		for _, step := range job.Steps {
			if step.Run != "" {
				runStep(t, checkout, step.Run)
				continue
			}
			require.Regexp(t, `^actions/[a-z/-]+@v\d+$`, step.Uses)
			name, _, _ := strings.Cut(step.Uses, "@")
			uses = append(uses, name)
			if path := step.With["go-version-file"]; path != "" {
				require.FileExists(t, filepath.Join("..", "..", "..", path))
			}
			if name != "actions/cache/restore" && step.With["path"] != "" {
				require.Equal(t, "always()", step.If, "failures are what it is kept for")
				kept, err := os.Stat(filepath.Join(checkout, step.With["path"])) // through the link
				require.NoError(t, err)
				require.True(t, kept.IsDir())
			}
		}
	}
	require.Equal(t, []string{"actions/checkout", "actions/setup-go", "actions/cache/restore",
		"actions/cache/save", "actions/upload-artifact"}, uses)
	kept, err := os.ReadFile(filepath.Join(checkout, "known", "findings.jsonl"))
	require.NoError(t, err)
	require.Equal(t, "open\n", string(kept), "the next run compares with what this one left open")
	given, err := os.ReadFile(filepath.Join(checkout, "arguments"))
	require.NoError(t, err)
	o, err := parse(strings.Fields(string(given)))
	require.NoError(t, err)
	require.Equal(t, "known/findings.jsonl", o.baseline)
}

// standIn is a checkout whose run_lab.sh only leaves what a run leaves, and its arguments.
func standIn(t *testing.T) string {
	t.Helper()
	script, err := os.Stat("../../../run_lab.sh")
	require.NoError(t, err)
	require.NotZero(t, script.Mode()&0o111)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "run_lab.sh"), []byte(`#!/bin/sh
set -e
echo "$@" >arguments
test -f known/findings.jsonl
mkdir -p logs/1
ln -s 1 logs/latest
echo open >logs/latest/findings.jsonl
`), 0o755))
	return dir
}

func runStep(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.Command("bash", "-eo", "pipefail", "-c", script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", script, out)
}

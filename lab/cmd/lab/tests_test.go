package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTestsReadThisRunAndNothingFromOutside(t *testing.T) {
	g := gate{options: options{loops: 7, sequences: 50, seed: 9, scenario: "^a"}, dir: "/x"}
	env := g.testEnvironment([]string{"HOME=/h", "LAB_SEED=1", "LAB_REPLAY=old@1", "LAB_KEEP=1",
		"LAB_LOGS=/else"}, "handed")
	require.Equal(t, []string{"HOME=/h", "LAB_KEEP=1", "LAB_GATE=1", "LAB_LOGS=/x",
		"LAB_LOOPS=7", "LAB_SEQUENCES=50", "LAB_SEED=9", "LAB_SERVER_HANDOVER=handed",
		"LAB_SCENARIO=^a"}, env)
}

func TestWhatIsRun(t *testing.T) {
	for want, o := range map[string]options{
		"-skip ^TestReplay$ ./scenarios ./properties ./lab/inbox ./lab/webhook":        {},
		"-run ^(TestScenarios|TestLoops)$ ./scenarios":                                 {scenario: "x"},
		"-run ^TestReplay$ ./scenarios":                                                {replay: "x@1"},
		"-run Shuffled ./properties":                                                   {law: "Shuffled"},
		"-short -skip ^TestReplay$ ./scenarios ./properties ./lab/inbox ./lab/webhook": {short: true},
	} {
		g := gate{options: o}
		require.True(t, strings.HasSuffix(strings.Join(g.testArguments(), " "), want), want)
	}
}

func TestFailedTestsAreNamedInnermost(t *testing.T) {
	dir := t.TempDir()
	require.Empty(t, readTests(dir).failed)
	events := `{"Action":"run","Package":"webhooklab/scenarios","Test":"TestLoops"}
{"Action":"fail","Package":"webhooklab/scenarios","Test":"TestLoops/deadlock"}
{"Action":"fail","Package":"webhooklab/scenarios","Test":"TestLoops"}
not an event
{"Action":"fail","Package":"webhooklab/properties","Test":"TestLoops"}
{"Action":"fail","Package":"webhooklab/properties"}
{"Action":"fail","Package":"webhooklab/lab/inbox"}
{"Action":"build-fail","ImportPath":"webhooklab/lab"}`
	file := filepath.Join(dir, "tests.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(events), 0o644))
	require.Equal(t, []string{"scenarios.TestLoops/deadlock", "properties.TestLoops", "inbox",
		"build of webhooklab/lab"}, readTests(dir).failed)
}

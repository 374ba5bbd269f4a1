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

// What a failed test said is kept to its end, and what passed is known by name.
func TestWhatTestsSaidAndHowTheyEnded(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("x", outputBound)
	events := `{"Action":"output","Package":"webhooklab/lab/webhook","Test":"TestA","Output":"first\n"}
{"Action":"output","Package":"webhooklab/lab/webhook","Test":"TestA","Output":"` + long + `"}
{"Action":"output","Package":"webhooklab/lab/webhook","Test":"TestA","Output":"last\n"}
{"Action":"fail","Package":"webhooklab/lab/webhook","Test":"TestA"}
{"Action":"pass","Package":"webhooklab/lab/webhook","Test":"TestB"}
{"Action":"skip","Package":"webhooklab/lab/webhook","Test":"TestC"}
{"Action":"fail","Package":"webhooklab/lab/webhook","Elapsed":1.5}
{"Action":"build-output","ImportPath":"webhooklab/lab","Output":"lab.go:1: broken\n"}
{"Action":"build-fail","ImportPath":"webhooklab/lab"}`
	require.NoError(t, os.WriteFile(filepath.Join(dir, testEvents), []byte(events), 0o644))
	r := readTests(dir)
	require.Equal(t, []string{"webhook.TestA", "build of webhooklab/lab"}, r.failed)
	require.Len(t, r.outputs["webhook.TestA"], outputBound)
	require.True(t, strings.HasSuffix(r.outputs["webhook.TestA"], "xlast\n"))
	require.Equal(t, "lab.go:1: broken\n", r.outputs["build of webhooklab/lab"])
	require.True(t, r.passed["webhook.TestB"])
	require.False(t, r.passed["webhook.TestC"])
	require.InDelta(t, 1.5, r.elapsed["webhook"], 0)
}

func TestLinesAreWholeWhateverTheWrites(t *testing.T) {
	var heard []string
	l := &lines{hear: func(line []byte) { heard = append(heard, string(line)) }}
	for _, text := range []string{"a", "b\nc\n", "\n", "d"} {
		l.Write([]byte(text))
	}
	require.Equal(t, []string{"ab", "c", ""}, heard)
	l.end()
	l.end()
	require.Equal(t, []string{"ab", "c", "", "d"}, heard)
}

package scenarios_test

import (
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/report"
	"webhooklab/scenarios"
)

// What the gate says through the environment. Unset, the tests are what "go test" runs.

// chosen are the scenarios of a suite that LAB_SCENARIO matches; all without it.
func chosen(t *testing.T, suite scenarios.Suite) (some []lab.Scenario) {
	t.Helper()
	if os.Getenv("LAB_REPLAY") != "" {
		t.Skip("a replay plays one schedule and nothing else")
	}
	filter, err := regexp.Compile(os.Getenv("LAB_SCENARIO"))
	require.NoError(t, err, "LAB_SCENARIO")
	for _, sc := range suite.Scenarios {
		if filter.MatchString(sc.Name) {
			some = append(some, sc)
		}
	}
	return some
}

// loops is how often each concurrent scenario is played again.
func loops(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(orElse(os.Getenv("LAB_LOOPS"), "3"))
	require.NoError(t, err, "LAB_LOOPS")
	return n
}

var drawn = rand.Uint64N(1 << 32)

// seed is LAB_SEED, or one drawn for this process.
func seed() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("LAB_SEED"), 10, 64); err == nil {
		return n
	}
	return drawn
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// keep appends one entry to the gate's verdicts: the worst of these runs of one scenario.
func keep(t *testing.T, suite string, runs []lab.Report) {
	t.Helper()
	if len(runs) == 0 {
		return // the test has failed before the first was over
	}
	e := report.Entry{Suite: suite, Runs: len(runs)}
	for i, r := range runs {
		e.Name, e.Law = r.Scenario, r.Law
		e.Elapsed += r.Elapsed
		e.Overlaps += r.Overlapped()
		if i == 0 || r.Overlapped() < e.MinOverlaps {
			e.MinOverlaps = r.Overlapped()
		}
		if i == 0 || r.Verdict > e.Verdict {
			e.Verdict, e.Offences, e.Waits, e.Replay = r.Verdict, r.Offences, r.Waits, r.Schedule
		}
	}
	if _, sc, err := scenarios.Named(e.Name); err == nil && sc.Free {
		e.Replay = "" // what ran freely has no schedule that says what came when
	}
	if e.Verdict == lab.VerdictNotRun {
		e.Reason = e.Offences[0].Text
	}
	require.NoError(t, report.Append(os.Getenv("LAB_LOGS"), e))
}

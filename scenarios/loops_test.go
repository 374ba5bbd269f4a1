package scenarios_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/postgres"
	"webhooklab/lab/report"
	"webhooklab/scenarios"
)

// Every concurrent scenario holds again and again: stepped ones with the very same transcript,
// free ones with sessions that are proved to have met each time.
func TestLoops(t *testing.T) {
	n := loops(t)
	for _, suite := range scenarios.Suites {
		b := bench(t, postgres.Fast, suite, scenarios.Options{Seed: seed()})
		for _, sc := range chosen(t, suite) {
			if sc.Concurrent && scenarios.Profile(sc) == postgres.Fast {
				loop(t, b, sc, n)
			}
		}
	}
}

func loop(t *testing.T, b *scenarios.Bench, sc lab.Scenario, n int) {
	suite, suffix := report.Loop, ".stepped-"
	if sc.Free {
		suite, suffix = report.Free, ".free-"
	}
	t.Run(sc.Name, func(t *testing.T) {
		var runs []lab.Report
		defer func() { keep(t, suite, runs) }()
		for i := range n {
			r := held(t, sc, b.Play(t.Context(), sc, fmt.Sprint(suffix, i+1)))
			runs = append(runs, r)
			scenarios.Demand(t, r)
		}
	})
}

// A replay plays the schedule of LAB_REPLAY once more and says whether it still fits.
func TestReplay(t *testing.T) {
	line := strings.TrimSpace(os.Getenv("LAB_REPLAY"))
	if line == "" {
		t.Skip("LAB_REPLAY is not set")
	}
	name, _, _ := strings.Cut(line, "@")
	suite, sc, err := scenarios.Named(name)
	require.NoError(t, err, "the replay line begins with a scenario's name")
	b := bench(t, scenarios.Profile(sc), suite, scenarios.Options{Seed: seed()})

	r := b.Play(t.Context(), sc, "")

	e := report.Entry{
		Suite: report.Replay, Name: sc.Name, Law: sc.Law, Verdict: r.Verdict, Runs: 1,
		Offences: r.Offences, Overlaps: r.Overlapped(), MinOverlaps: r.Overlapped(),
		Waits: r.Waits, Replay: r.Schedule, Elapsed: r.Elapsed,
	}
	if steps(line) != steps(r.Schedule) {
		e.NoFit = true
		e.Detail = "the schedule was\n  " + line + "\nand is now\n  " + r.Schedule
	}
	require.NoError(t, report.Append(os.Getenv("LAB_LOGS"), e))
	require.False(t, e.NoFit, e.Detail)
	scenarios.Demand(t, r)
}

// steps is a schedule line without its seed.
func steps(line string) string {
	_, rest, _ := strings.Cut(line, " ")
	return rest
}

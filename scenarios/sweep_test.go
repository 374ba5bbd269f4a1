package scenarios_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/postgres"
	"webhooklab/lab/report"
	"webhooklab/scenarios"
)

// swept are the programs to sweep that LAB_SCENARIO matches; all without it.
func swept(t *testing.T, suite scenarios.Suite) (some []lab.Program) {
	t.Helper()
	chosen(t, suite)
	filter, err := regexp.Compile(os.Getenv("LAB_SCENARIO"))
	require.NoError(t, err, "LAB_SCENARIO")
	for _, p := range suite.Swept {
		if filter.MatchString(p.Name) {
			some = append(some, p)
		}
	}
	return some
}

// sweeping is a sweep of the reference, which is also started as a process of its own and killed. The
// door's sender and receiver share a process.
func sweeping(t *testing.T, suite scenarios.Suite, p lab.Program) lab.Sweeping {
	self, err := os.Executable()
	require.NoError(t, err)
	t.Setenv(serveReceiver, suite.Name)
	want := lab.Sweeping{Program: p}
	if suite.Name != scenarios.DoorSuite.Name {
		want.Process = scenarios.AsProcess(self)
	}
	return want
}

// Each reference receiver is cut at every command by every fault that needs no kill of the server:
// every cell is struck, or says why it can't exist, and the laws hold in all of them.
func TestEveryCut(t *testing.T) {
	for _, suite := range scenarios.Suites {
		b := bench(t, postgres.Fast, suite, scenarios.Options{Seed: seed()})
		for _, p := range swept(t, suite) {
			t.Run(p.Name, func(t *testing.T) {
				s := b.Sweep(t.Context(), sweeping(t, suite, p))
				wholly(t, suite, s)
				if suite.Name == scenarios.SnapshotSuite.Name {
					golden(t, "sweep/"+p.Name, s.String())
				}
			})
		}
	}
}

// The same with PostgreSQL killed before each command and behind it, and started again.
func TestEveryServerKill(t *testing.T) {
	for _, suite := range scenarios.Suites {
		b := bench(t, postgres.Durable, suite, scenarios.Options{Seed: seed()})
		for _, p := range swept(t, suite) {
			if len(p.Sessions) > 1 {
				continue
			}
			t.Run(p.Name, func(t *testing.T) {
				wholly(t, suite, b.Sweep(t.Context(), lab.Sweeping{
					Program: p, Faults: lab.ServerKills(),
				}))
			})
		}
	}
}

// wholly demands that nothing is missing and nothing is wrong.
func wholly(t *testing.T, suite scenarios.Suite, s lab.Swept) {
	t.Helper()
	require.NoError(t, report.AppendExplored(os.Getenv("LAB_LOGS"),
		scenarios.ToldSwept(suite.Name, s)))
	for _, c := range s.Failures() {
		t.Logf("lab replay '%s'\n%v\n%s", c.Schedule, c.Offences, c.Transcript)
	}
	require.Equal(t, lab.VerdictValid, s.Verdict, "%v\n%s", s.Offences, s)
	require.Equal(t, len(s.Cells), s.Struck()+s.None())
	require.Positive(t, s.Struck())
	if !strings.HasPrefix(s.Program, "two_") {
		require.Len(t, s.Cells, len(s.Points)*len(s.Faults))
	}
	t.Logf("%d cells struck, %d cannot exist, %v", s.Struck(), s.None(), s.Elapsed)
}

package scenarios_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/postgres"
	"webhooklab/lab/report"
	"webhooklab/scenarios"
)

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
	for suite, b := range benches(t, postgres.Fast, nil) {
		for _, p := range matching(t, suite.Swept) {
			t.Run(p.Name, func(t *testing.T) {
				if len(p.Sessions) > 1 && !wholeSuite(suite) {
					t.Skip("every place of one session beside every place of another is left to the gate, " +
						"or to LAB_ALL=1")
				}
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
	if testing.Short() || os.Getenv("LAB_LOGS") == "" && !wantsAll() {
		t.Skip("the server is killed everywhere by the gate, or with LAB_ALL=1")
	}
	for suite, b := range benches(t, postgres.Durable, nil) {
		for _, p := range matching(t, suite.Swept) {
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

// onlyCut are sinners that deliver well as long as nothing dies, and the program whose sweep finds
// them out.
var onlyCut = map[string]string{
	"ack_before_commit":              "new_event",
	"projection_outside_transaction": "new_event",
	"rollback_taken_for_commit":      "new_event",
	"mark_before_effect":             "processed_event",
	"effect_outside_transaction":     "processed_event",
	"lease_never_reclaimed":          "work",
	"effect_before_completion":       "work",
	"outbox_row_after_commit":        "enqueue",
	"outbox_marked_before_send":      "dispatch",
	"door_swallows_unavailable":      "door_new_event",
}

// They pass the program uncut, the sweep catches them without knowing what it looks for, and the line
// of the cell shows it again.
func TestSweepFindsWhatOnlyACutShows(t *testing.T) {
	ofTheLab(t)
	chosen(t, scenarios.Suite{})
	for _, sinner := range scenarios.Sinners {
		program, ok := onlyCut[sinner.Name]
		if !ok {
			continue
		}
		t.Run(sinner.Name, func(t *testing.T) {
			_, p, err := scenarios.ProgramNamed(program)
			require.NoError(t, err)
			o := sinner.Options()
			o.Seed = seed()
			b := bench(t, postgres.Fast, sinner.Suite, o)

			s := b.Sweep(t.Context(), lab.Sweeping{Program: p, First: true})
			require.Empty(t, s.Offences, "it should do well while nothing is cut")
			bad := s.Failures()
			require.NotEmpty(t, bad, s.String())
			c := bad[len(bad)-1]
			require.Equal(t, lab.VerdictInvalid, c.Verdict, "%v\n%s", c.Offences, c.Transcript)
			t.Logf("%d %s, %s, after %d cells and %v: %s", c.Place, c.Command, c.Fault.Words(),
				len(s.Cells), s.Elapsed, c.Offences[0].Text)

			again, err := lab.ParseSchedule(c.Schedule.String())
			require.NoError(t, err)
			r := b.Replay(t.Context(), p, again)
			require.Empty(t, r.NoFit)
			require.Equal(t, lab.VerdictInvalid, r.Report.Verdict)
			require.Equal(t, c.Offences[0].Text, r.Report.Offences[0].Text)
		})
	}
}

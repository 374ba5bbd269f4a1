package scenarios_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/postgres"
	"webhooklab/lab/report"
	"webhooklab/scenarios"
)

// programs are those of a suite that LAB_SCENARIO matches; all without it.
func programs(t *testing.T, suite scenarios.Suite) []lab.Program {
	t.Helper()
	return matching(t, suite.Programs)
}

func matching(t *testing.T, all []lab.Program) (some []lab.Program) {
	t.Helper()
	chosen(t, scenarios.Suite{})
	filter, err := regexp.Compile(os.Getenv("LAB_SCENARIO"))
	require.NoError(t, err, "LAB_SCENARIO")
	for _, p := range all {
		if filter.MatchString(p.Name) {
			some = append(some, p)
		}
	}
	return some
}

// Three sessions are run in every order where reduction leaves so few, else so many early ones and
// a sample of the rest.
const (
	budgetOfThree  = 250
	samplesOfThree = 50
)

// wholeSuite says whether what takes longest is run of a suite: three sessions, and pairs of which one
// is cut. The gate runs it of all suites, go test by itself of snapshots.
func wholeSuite(suite scenarios.Suite) bool {
	if testing.Short() {
		return false
	}
	return suite.Name == scenarios.SnapshotSuite.Name || os.Getenv("LAB_LOGS") != "" || wantsAll()
}

// failing keeps what failed beside the gate's runs: it goes first the next time.
func failing() scenarios.Failing {
	logs := os.Getenv("LAB_LOGS")
	if logs == "" {
		return scenarios.Failing{}
	}
	return scenarios.Failing{Dir: filepath.Join(filepath.Dir(logs), "failing")}
}

// The reference keeps its promises in every order of every program, the tree of two sessions is
// exhausted, and each answer that the program allows was given in some order.
func TestEveryOrder(t *testing.T) {
	for suite, b := range benches(t, postgres.Fast, scenarios.Explorable) {
		for _, p := range programs(t, suite) {
			t.Run(p.Name, func(t *testing.T) {
				if len(p.Sessions) > 2 && !wholeSuite(suite) {
					t.Skip("three sessions of this suite are left to the gate, or to LAB_ALL=1")
				}
				want := lab.Exploration{Program: p, List: true}
				if len(p.Sessions) > 2 {
					want.Budget, want.Samples = budgetOfThree, samplesOfThree
				}
				e, err := b.ExploreAndKeep(t.Context(), want, failing())
				require.NoError(t, err)
				require.NoError(t, report.AppendExplored(os.Getenv("LAB_LOGS"),
					scenarios.Told(suite.Name, e)))
				clean(t, e)
				require.True(t, e.Complete() || want.Budget > 0, "%d branches are left", e.Left)
				require.Equal(t, sorted(p.Answers), answersOf(e), "the answers of some order")
				t.Log(counts(e))
			})
		}
	}
}

// wholeOfThree are the programs of three sessions whose whole tree is run, one for each receiver.
var wholeOfThree = []string{"three_copies", "email_three_ranks", "atomic_copies_and_reader",
	"leased_workers_and_clock", "outbox_dispatchers_and_reader", "door_copies_and_reader"}

// longTrees have whole trees of many hundred orders, which LAB_ALL=1 asks for.
var longTrees = []string{"outbox_dispatcher_and_recovery", "door_copies_and_reader",
	"leased_workers_and_clock", "outbox_dispatchers_and_reader", "leased_two_workers_two_receipts"}

// wantsAll says that minutes don't matter: everything is tried, not a sample.
func wantsAll() bool { return os.Getenv("LAB_ALL") != "" }

// ofTheLab skips a test of the lab itself where only receivers are judged: in the gate.
func ofTheLab(t *testing.T) {
	t.Helper()
	if os.Getenv("LAB_LOGS") != "" {
		t.Skip("the gate judges receivers; this judges the lab, under go test ./...")
	}
}

// Reduction loses nothing: the whole tree of each pair of sessions, and of one program of three for
// each receiver, ends in the same answers and rows as the reduced one.
func TestReductionLosesNothing(t *testing.T) {
	ofTheLab(t)
	if testing.Short() {
		t.Skip("whole trees are left out under -short")
	}
	for suite, b := range benches(t, postgres.Fast, scenarios.Explorable) {
		for _, p := range programs(t, suite) {
			if len(p.Sessions) != 2 && !slices.Contains(wholeOfThree, p.Name) ||
				!wantsAll() && slices.Contains(longTrees, p.Name) {
				continue
			}
			t.Run(p.Name, func(t *testing.T) {
				reduced := b.Explore(t.Context(), lab.Exploration{Program: p})
				whole := b.Explore(t.Context(), lab.Exploration{Program: p, Whole: true})
				clean(t, reduced)
				clean(t, whole)
				require.True(t, whole.Complete() && reduced.Complete())
				require.Equal(t, keys(whole.States), keys(reduced.States))
				require.LessOrEqual(t, reduced.Explored, whole.Explored)
				t.Logf("whole: %s\nreduced: %s", counts(whole), counts(reduced))
			})
		}
	}
}

// The whole tree holds each feasible order once: as many as an enumeration finds that knows nothing
// of trees, by trying all words of the right letters.
func TestWholeTreeIsEveryFeasibleOrder(t *testing.T) {
	ofTheLab(t)
	for _, name := range []string{"two_copies", "two_revisions", "late_and_next", "two_objects",
		"email_and_its_message", "leased_two_copies"} {
		t.Run(name, func(t *testing.T) {
			suite, p, err := scenarios.ProgramNamed(name)
			require.NoError(t, err)
			b := bench(t, postgres.Fast, scenarios.Explorable(suite), scenarios.Options{Seed: seed()})
			whole := b.Explore(t.Context(), lab.Exploration{Program: p, Whole: true})
			clean(t, whole)

			longest := map[string]int{}
			for _, line := range feasible(t, b, p, lengths(t, b, p)) {
				longest[line]++
			}
			require.Len(t, longest, whole.Explored)
		})
	}
}

// lengths is how many steps each session needs at most, by running the sessions in turn both ways.
func lengths(t *testing.T, b *scenarios.Bench, p lab.Program) (n [2]int) {
	for i := range 2 {
		first, second := p.Sessions[i].Name, p.Sessions[1-i].Name
		r := b.Replay(t.Context(), p, lab.Schedule{Program: p.Name})
		if i == 1 {
			r = b.Replay(t.Context(), p, lab.Schedule{Program: p.Name,
				Steps: slices.Repeat([]lab.Step{{Session: first}}, counted(r, second))})
		}
		n[i] = max(n[i], counted(r, first))
		n[1-i] = max(n[1-i], counted(r, second))
	}
	return n
}

func counted(r lab.Replayed, session string) (n int) {
	for _, s := range r.Ran.Steps {
		if s.Session == session {
			n++
		}
	}
	return n
}

// feasible tries every word of so many letters, and gives the orders that were really run.
func feasible(t testing.TB, b *scenarios.Bench, p lab.Program, n [2]int) (lines []string) {
	var try func(word []lab.Step, left [2]int)
	try = func(word []lab.Step, left [2]int) {
		if left == [2]int{} {
			r := b.Replay(t.Context(), p, lab.Schedule{Program: p.Name, Steps: word})
			if r.NoFit == "" || r.Ended {
				lines = append(lines, r.Ran.String())
			}
			return
		}
		for i := range 2 {
			if left[i] > 0 {
				rest := left
				rest[i]--
				try(append(slices.Clone(word), lab.Step{Session: p.Sessions[i].Name}), rest)
			}
		}
	}
	try(nil, n)
	return lines
}

// A schedule that is replayed gives the same transcript, verdict and answers every time.
//
// LAB_REPLAYS asks for so many replays of every order, for a night.
func TestReplayIsExact(t *testing.T) {
	ofTheLab(t)
	want := lab.Exploration{Audit: replays(t, 1), Budget: 12}
	if os.Getenv("LAB_REPLAYS") != "" {
		want.Budget, want.Whole = 0, true
	}
	for suite, b := range benches(t, postgres.Fast, scenarios.Explorable) {
		for _, p := range programs(t, suite) {
			if len(p.Sessions) != 2 || !want.Whole && slices.Contains(longTrees, p.Name) {
				continue
			}
			t.Run(p.Name, func(t *testing.T) {
				want := want
				want.Program = p
				e := b.Explore(t.Context(), want)
				clean(t, e)
				require.Empty(t, e.Varied, strings.Join(e.Varied, "\n"))
				require.Equal(t, e.Explored*want.Audit, e.Audited)
				t.Logf("%d orders, %d replays, in %v", e.Explored, e.Audited, e.Elapsed)
			})
		}
	}
}

// replays is how often LAB_REPLAYS wants a schedule replayed.
func replays(t *testing.T, usual int) int {
	t.Helper()
	times := os.Getenv("LAB_REPLAYS")
	if times == "" {
		return usual
	}
	n, err := strconv.Atoi(times)
	require.NoError(t, err, "LAB_REPLAYS")
	return n
}

// Three sessions of snapshots are complete, by reduction, in a moment.
func BenchmarkThreeSessions(b *testing.B) {
	for _, name := range []string{"three_revisions", "three_copies", "two_copies_and_a_revision"} {
		b.Run(name, func(b *testing.B) {
			suite, p, err := scenarios.ProgramNamed(name)
			require.NoError(b, err)
			lb := bench(b, postgres.Fast, scenarios.Explorable(suite), scenarios.Options{Seed: 7})
			for b.Loop() {
				e := lb.Explore(b.Context(), lab.Exploration{Program: p})
				require.True(b, e.Complete() && e.Verdict == lab.VerdictValid)
			}
		})
	}
}

// Schedules a second, judged, without reduction.
func BenchmarkExplore(b *testing.B) {
	for _, name := range []string{"two_revisions", "two_copies", "three_revisions"} {
		b.Run(name, func(b *testing.B) {
			suite, p, err := scenarios.ProgramNamed(name)
			require.NoError(b, err)
			lb := bench(b, postgres.Fast, scenarios.Explorable(suite), scenarios.Options{Seed: 7})
			n, spent := 0, time.Duration(0)
			for b.Loop() {
				e := lb.Explore(b.Context(), lab.Exploration{Program: p, Whole: true, Budget: 200})
				n, spent = n+e.Explored, spent+e.Elapsed
			}
			b.ReportMetric(float64(n)/spent.Seconds(), "schedules/s")
		})
	}
}

// clean demands that nothing was broken, and shows the first failure.
func clean(t *testing.T, e lab.Explored) {
	t.Helper()
	if e.Verdict == lab.VerdictNotRun {
		t.Skip(e.Failures[0].Report.Offences[0].Text)
	}
	if e.Verdict != lab.VerdictValid {
		f := e.Failures[0]
		t.Fatalf("%s\n%s", f.Schedule, f.Report)
	}
}

func counts(e lab.Explored) string {
	return fmt.Sprintf("%v orders, %d explored, %d cut, %d pruned, %d left, %d ends, %v (%.0f/s)",
		e.Orders, e.Explored, e.Cut, e.Pruned, e.Left, len(e.States), e.Elapsed,
		float64(e.Explored+e.Cut)/e.Elapsed.Seconds())
}

func answersOf(e lab.Explored) []string { return keys(e.Outcomes) }

func keys(m map[string]int) []string {
	var all []string
	for k := range m {
		all = append(all, k)
	}
	sort.Strings(all)
	return all
}

func sorted(all []string) []string {
	all = slices.Clone(all)
	sort.Strings(all)
	return all
}

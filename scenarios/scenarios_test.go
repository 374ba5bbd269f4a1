package scenarios_test

import (
	"context"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"webhooklab/lab"
	"webhooklab/lab/postgres"
	"webhooklab/lab/report"
	"webhooklab/scenarios"
)

var update = flag.Bool("update", false, "rewrite the golden transcripts")

var stage *scenarios.Stage

func TestMain(m *testing.M) {
	if name := os.Getenv(serveReceiver); name != "" {
		os.Exit(servedReceiver(name))
	}
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	say := func(line string) { fmt.Fprintln(os.Stderr, line) }
	var err error
	if stage, err = scenarios.OpenStage(ctx, say); err != nil {
		say(err.Error())
		return 2
	}
	code := m.Run()
	ctx, cancel = context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := stage.Close(ctx); err != nil {
		say(err.Error())
		code = max(code, 2)
	}
	if err := goleak.Find(); err != nil {
		say(err.Error())
		code = max(code, 2)
	}
	return code
}

// bench is a lab on a clone that ends with the test.
func bench(t testing.TB, p postgres.Profile, suite scenarios.Suite, o scenarios.Options,
) *scenarios.Bench {
	b, err := stage.Bench(t.Context(), p, suite, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close(context.Background())) })
	return b
}

// benches are those of all suites, each closed before the next is opened: their labs keep connections,
// of which a server has so many. Without staged a suite is taken as it is.
func benches(
	t *testing.T, p postgres.Profile, staged func(scenarios.Suite) scenarios.Suite,
) iter.Seq2[scenarios.Suite, *scenarios.Bench] {
	return func(yield func(scenarios.Suite, *scenarios.Bench) bool) {
		for _, suite := range scenarios.Suites {
			if !withBench(t, p, suite, staged, yield) {
				return
			}
		}
	}
}

func withBench(t *testing.T, p postgres.Profile, suite scenarios.Suite,
	staged func(scenarios.Suite) scenarios.Suite, do func(scenarios.Suite, *scenarios.Bench) bool,
) bool {
	on := suite
	if staged != nil {
		on = staged(suite)
	}
	b, err := stage.Bench(t.Context(), p, on, scenarios.Options{Seed: seed()})
	require.NoError(t, err)
	defer func() { assert.NoError(t, b.Close(context.Background())) }()
	return do(suite, b)
}

// The reference keeps every promise, in exactly the order of commands that the golden shows.
func TestScenarios(t *testing.T) {
	require.NoError(t, report.SaveContracts(os.Getenv("LAB_LOGS"), scenarios.Contracts()))
	for _, suite := range scenarios.Suites {
		benches := map[postgres.Profile]*scenarios.Bench{}
		for _, sc := range chosen(t, suite) {
			p := scenarios.Profile(sc)
			if benches[p] == nil {
				benches[p] = bench(t, p, suite, scenarios.Options{Seed: seed(), Rows: true})
			}
			t.Run(sc.Name, func(t *testing.T) {
				r := held(t, sc, benches[p].Play(t.Context(), sc, ""))
				keep(t, report.Scenario, []lab.Report{r})
				scenarios.Demand(t, r)
			})
		}
	}
}

// held holds a transcript against the golden one. A run that held and went another way is unknown:
// nobody has read that way yet.
func held(t *testing.T, sc lab.Scenario, r lab.Report) lab.Report {
	if sc.Free || r.Verdict != lab.VerdictValid {
		return r
	}
	if want := told(t, sc.Name, r.Transcript); want != r.Transcript {
		r.Verdict = lab.VerdictUnknown
		r.Offences = append(r.Offences, lab.Offence{
			Verdict: lab.VerdictUnknown, Law: sc.Law,
			Text: "the transcript differs from testdata/" + sc.Name + ".txt: read it, and run the " +
				"tests with -update if it is right",
		})
	}
	return r
}

// golden demands a transcript to the letter.
func golden(t *testing.T, name, got string) {
	t.Helper()
	require.Equal(t, told(t, name, got), got)
}

// told is the golden transcript of this name, made of got under -update.
func told(t *testing.T, name, got string) string {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "run the tests with -update, and read what it wrote")
	return string(want)
}

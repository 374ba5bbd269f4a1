package scenarios_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/postgres"
	"webhooklab/scenarios"
)

// BenchmarkAgainstIsolationTester runs the feasible orders of two deliveries for one object, judged
// and with transcripts, beside PostgreSQL's own isolationtester on the same orders, statements and
// server, in turns. It reports how many times its rate is ours, against three ways of writing the
// spec: as usual (tables made for each permutation), with two DELETEs as its set-up, and that with
// its start-up spread over 140 permutations.
//
// A turn is a second, whosever it is: at its beginning all backends forget what they have planned if
// the other has made tables meanwhile.
func BenchmarkAgainstIsolationTester(b *testing.B) {
	tester := isolationTester(b)
	suite, p, err := scenarios.ProgramNamed("two_revisions")
	require.NoError(b, err)
	lb := bench(b, postgres.Fast, scenarios.Explorable(suite), scenarios.Options{Seed: 7})
	orders := permutations(b, lb, p)
	require.Len(b, orders, 14)
	specs := map[string]string{
		"usual": spec(orders, 1, createTables, dropTables),
		"fair":  spec(orders, 1, deleteRows, ""),
		"long":  spec(orders, 10, deleteRows, ""),
	}
	ours, theirs := 0.0, map[string]float64{}
	for b.Loop() {
		for name, text := range specs {
			theirs[name] += isolated(b, tester, lb, text, strings.Count(text, "\npermutation"))
			ours += explored(b, lb, p)
		}
	}
	rounds := float64(b.N)
	b.ReportMetric(ours/rounds/3, "schedules/s")
	for name, sum := range theirs {
		b.ReportMetric(ours/3/sum, "times_"+name)
	}
}

// permutations are the feasible orders in the names of the spec's steps.
func permutations(b *testing.B, lb *scenarios.Bench, p lab.Program) (all []string) {
	verbs := []string{"claims", "advances", "commits"}
	for _, line := range feasible(b, lb, p, [2]int{3, 3}) {
		s, err := lab.ParseSchedule(line)
		require.NoError(b, err)
		at, words := map[string]int{}, []string{}
		for _, step := range s.Steps {
			words = append(words, step.Session+"_"+verbs[at[step.Session]])
			at[step.Session]++
		}
		all = append(all, strings.Join(words, " "))
	}
	return all
}

// explored is our rate: schedules a second.
func explored(b *testing.B, lb *scenarios.Bench, p lab.Program) float64 {
	return rate(func() int {
		e := lb.Explore(b.Context(), lab.Exploration{Program: p, Whole: true})
		require.Equal(b, lab.VerdictValid, e.Verdict)
		return e.Explored
	})
}

// isolated is the tester's rate over one spec of n permutations.
func isolated(b *testing.B, tester string, lb *scenarios.Bench, spec string, n int) float64 {
	return rate(func() int {
		cmd := exec.Command(tester, lb.Database.DSN())
		cmd.Stdin = strings.NewReader(spec)
		out, err := cmd.CombinedOutput()
		require.NoError(b, err, "%s", out)
		require.Equal(b, n, strings.Count(string(out), "\nstarting permutation"), "%s", out)
		return n
	})
}

// rate is how many orders are run in a second, where run runs some and says how many.
func rate(run func() int) float64 {
	n, began := 0, time.Now()
	for time.Since(began) < time.Second {
		n += run()
	}
	return float64(n) / time.Since(began).Seconds()
}

func isolationTester(tb testing.TB) string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/lib/pgxs/src/test/isolation/isolationtester")
	if path := os.Getenv("ISOLATIONTESTER"); path != "" {
		found = []string{path}
	}
	if len(found) == 0 {
		tb.Skip("not run: there is no isolationtester; Debian has it in postgresql-server-dev-15")
	}
	return found[len(found)-1]
}

const (
	createTables = `
	CREATE TABLE bench_inbox (
		source text, event_id text, object_id text, revision bigint, snapshot jsonb NOT NULL,
		PRIMARY KEY (source, event_id), UNIQUE (source, object_id, revision));
	CREATE TABLE bench_state (
		source text, object_id text, revision bigint, snapshot jsonb NOT NULL,
		PRIMARY KEY (source, object_id));`
	dropTables = `DROP TABLE bench_inbox, bench_state;`
	deleteRows = `DELETE FROM webhook_inbox WHERE source = 'bench';
	DELETE FROM object_state WHERE source = 'bench';`
)

// spec has each order so many times.
func spec(orders []string, times int, setup, teardown string) string {
	inbox, state := "webhook_inbox", "object_state"
	if teardown != "" {
		inbox, state = "bench_inbox", "bench_state"
	} else {
		setup = "ALTER TABLE webhook_inbox DISABLE TRIGGER USER;\n\t" + setup
	}
	var s strings.Builder
	fmt.Fprintf(&s, "setup {\n\t%s\n}\n", setup)
	if teardown != "" {
		fmt.Fprintf(&s, "teardown {\n\t%s\n}\n", teardown)
	}
	for i, name := range []string{"older", "newer"} {
		fmt.Fprintf(&s, `
session %[1]s
setup { BEGIN ISOLATION LEVEL READ COMMITTED; }
step %[1]s_claims {
	INSERT INTO %[3]s (source, event_id, object_id, revision, snapshot)
	VALUES ('bench', 'evt_%[2]d', 'order', %[2]d, jsonb_build_object('total', %[2]d0))
	ON CONFLICT DO NOTHING RETURNING event_id; }
step %[1]s_advances {
	INSERT INTO %[4]s AS current (source, object_id, revision, snapshot)
	VALUES ('bench', 'order', %[2]d, jsonb_build_object('total', %[2]d0))
	ON CONFLICT (source, object_id) DO UPDATE
	SET revision = excluded.revision, snapshot = excluded.snapshot
	WHERE current.revision < excluded.revision RETURNING revision; }
step %[1]s_commits { COMMIT; }
`, name, i+1, inbox, state)
	}
	for range times {
		for _, order := range orders {
			s.WriteString("\npermutation " + order)
		}
	}
	return s.String() + "\n"
}

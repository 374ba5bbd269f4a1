package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/export"
	"webhooklab/lab/postgres"
	"webhooklab/scenarios"
)

// PostgreSQL's own isolation tester sees what the lab saw, of everything that the lab can show: the
// same waits, the same results, in the same order, to the letter. Broken receivers are among it.
// Every eighth run is exported; LAB_ALL=1 exports them all.
func TestIsolationTesterAgrees(t *testing.T) {
	if testing.Short() {
		t.Skip("it plays everything twice more, and once by isolationtester")
	}
	tester, stage := isolationTester(t), openStage(t)
	cases, err := exportOptions{scenario: "all"}.cases()
	require.NoError(t, err)
	for _, s := range scenarios.Sinners {
		c, err := sinnerCase(s.Name)
		require.NoError(t, err)
		cases = append(cases, c)
	}
	played, left := 0, map[string][]string{}
	for i, c := range cases {
		if i%8 != 0 && os.Getenv("LAB_ALL") == "" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			reason := agree(t, tester, stage, c)
			if reason == "" {
				played++
				return
			}
			require.Contains(t, accepted, reason)
			left[reason] = append(left[reason], c.name)
		})
	}
	t.Logf("%d of %d are played by isolationtester", played, len(cases))
	for reason, names := range left {
		t.Logf("%d are not: %s: %s", len(names), reason, strings.Join(names, ", "))
	}
}

// accepted are the reasons for which a run may have no specification.
var accepted = []string{
	"its sessions ran freely, so no schedule says what came when",
	"lines n and n were under way at once, so no schedule says which came first",
	"the server is killed, which no step of it can do",
	"a session still waits at the end, which it takes for an error",
	"the error belongs to a prepared statement, and plain SQL prepares none",
	"nothing of it went over a wire",
	"it changes public.seen_inside, which was not an empty table before",
}

// agree is "" if the tester agrees, or else why it can't be asked.
func agree(t *testing.T, tester string, stage *scenarios.Stage, c exportCase) string {
	b := benchOf(t, stage, c)
	script, _, err := c.script(t.Context(), b)
	var spec, expected string
	if err == nil {
		spec, expected, err = script.IsolationSpec(c.schema)
	}
	if errors.Is(err, export.ErrNoScript) {
		return reason(err)
	}
	require.NoError(t, err)
	require.Equal(t, expected, runSpec(t, tester, b, spec), spec)
	return ""
}

// reason is why there is no script, without what differs from scenario to scenario.
func reason(err error) string {
	_, text, _ := strings.Cut(err.Error(), export.ErrNoScript.Error()+": ")
	return regexp.MustCompile(`\d+`).ReplaceAllString(text, "n")
}

// What an exploration finds is a schedule like any other.
func TestExploredFailuresAreExported(t *testing.T) {
	tester, stage := isolationTester(t), openStage(t)
	c, err := sinnerCase("check_then_insert")
	require.NoError(t, err)
	c.suite = scenarios.Explorable(c.suite)
	b := benchOf(t, stage, c)
	for _, name := range []string{"two_copies", "outside_writer"} {
		_, p, err := scenarios.ProgramNamed(name)
		require.NoError(t, err)
		found := b.Explore(t.Context(), lab.Exploration{Program: p, Stop: 3})
		require.NotEmpty(t, found.Failures, name)
		for _, f := range found.Failures {
			if f.Schedule.Program == "" {
				continue // of the exploration as a whole
			}
			script, err := b.Export(t.Context(), f.Report)
			require.NoError(t, err, f.Line())
			spec, expected, err := script.IsolationSpec(c.schema)
			require.NoError(t, err, f.Line())
			require.Equal(t, expected, runSpec(t, tester, b, spec), f.Line())
		}
	}
}

// A specification removes its own rows, so that it can be played again, and nobody else's.
func TestASpecificationLeavesEverythingAsItWas(t *testing.T) {
	tester, stage := isolationTester(t), openStage(t)
	cases, err := exportOptions{scenario: "retry_during_commit"}.cases()
	require.NoError(t, err)
	b := benchOf(t, stage, cases[0])
	script, _, err := cases[0].script(t.Context(), b)
	require.NoError(t, err)
	spec, expected, err := script.IsolationSpec(cases[0].schema)
	require.NoError(t, err)
	d, err := b.Fresh(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Drop(context.Background())) }()
	for range 2 {
		out, errs, err := playSpec(t, tester, d.DSN(), spec)
		require.NoError(t, err, errs)
		require.Equal(t, expected, out)
	}
	conn, err := pgx.Connect(t.Context(), d.DSN())
	require.NoError(t, err)
	defer conn.Close(context.Background())
	_, err = conn.Exec(t.Context(), `INSERT INTO object_state VALUES ('somebody', 'o', 1, '{}')`)
	require.NoError(t, err)
	_, errs, err := playSpec(t, tester, d.DSN(), spec)
	require.Error(t, err)
	require.Contains(t, errs, "this needs a database of its own")
	var kept int
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM object_state`).Scan(&kept))
	require.Equal(t, 1, kept)
}

// runSpec plays a specification on a database of its own.
func runSpec(t *testing.T, tester string, b *scenarios.Bench, spec string) string {
	d, err := b.Fresh(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Drop(context.Background())) }()
	out, errs, err := playSpec(t, tester, d.DSN(), spec)
	require.NoError(t, err, errs)
	require.Empty(t, errs)
	return out
}

func playSpec(t *testing.T, tester, dsn, spec string) (printed, complained string, err error) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, tester, dsn)
	cmd.Stdin = strings.NewReader(spec)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// isolationTester finds it where Debian's and the PostgreSQL project's packages put it.
func isolationTester(t *testing.T) string {
	t.Helper()
	if path, err := exec.LookPath("isolationtester"); err == nil {
		return path
	}
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/lib/pgxs/src/test/isolation/isolationtester",
		"/usr/pgsql-*/lib/pgxs/src/test/isolation/isolationtester",
	} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return found[len(found)-1]
		}
	}
	t.Skip("isolationtester is not installed; Debian has it in postgresql-server-dev-15")
	return ""
}

func openStage(t *testing.T) *scenarios.Stage {
	t.Helper()
	stage, err := scenarios.OpenStage(t.Context(), func(line string) { t.Log(line) })
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopBound)
		defer cancel()
		require.NoError(t, stage.Close(ctx))
	})
	return stage
}

func benchOf(t *testing.T, stage *scenarios.Stage, c exportCase) *scenarios.Bench {
	t.Helper()
	p := scenarios.Profile(c.play)
	if p == postgres.Durable && stage.Server().Can(postgres.Crash) != nil {
		p = postgres.Fast
	}
	b, err := stage.Bench(t.Context(), p, c.suite, c.options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close(context.Background())) })
	return b
}

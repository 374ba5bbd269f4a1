package lab_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/scenarios"
)

const threeRows = `
INSERT INTO loose
SELECT $1::text, $2::text
  FROM generate_series(1, 3)
 WHERE $3::bigint > 0
RETURNING 'applied'`

// Every row is a gate of its own, and none is ever passed unseen.
func TestEachRowIsAGate(t *testing.T) {
	b := insideBench(t, inOneStatement(threeRows, lab.Unknown))
	one := twoCopies
	one.Sessions, one.Answers = one.Sessions[:1], nil
	for range 20 {
		e := b.Explore(t.Context(), lab.Exploration{Program: one, Gated: true, Whole: true})
		require.Equal(t, 1, e.Explored)
		require.Equal(t, 3, e.Gates)
	}
}

// Rows of two sessions come in every order that there is: 8 steps, 4 of each.
func TestRowsComeInEveryOrder(t *testing.T) {
	b := insideBench(t, inOneStatement(threeRows, lab.Unknown))
	p := twoCopies
	p.Answers = nil
	e := b.Explore(t.Context(), lab.Exploration{
		Program: p, Gated: true, Whole: true, Audit: 1, Stop: 1000}) // the law once is broken
	require.Equal(t, 70, e.Explored)
	require.Equal(t, e.Orders.Int64(), int64(e.Explored))
	require.Empty(t, e.Varied)
}

// What was placed and is not shut changes nothing: the same orders, none of them at a gate.
func TestOpenGatesHoldNobody(t *testing.T) {
	var before, after lab.Explored
	b := insideBench(t, inOneStatement(insideCases[3].sql, lab.Duplicate))
	want := lab.Exploration{Program: twoCopies}
	before = b.Explore(t.Context(), want)
	want.Gated = true
	require.Positive(t, b.Explore(t.Context(), want).Gates)
	want.Gated = false
	after = b.Explore(t.Context(), want)
	require.Equal(t, before.Explored, after.Explored)
	require.Equal(t, before.Pruned, after.Pruned)
	require.Equal(t, before.States, after.States)
	require.Zero(t, after.Gates)
}

// A statement is cancelled where it stands, not when a timer says so, and leaves nothing.
func TestCancelledAtItsGate(t *testing.T) {
	b := insideBench(t, inOneStatement(insideCases[3].sql, lab.Duplicate))
	s, err := lab.ParseSchedule(
		"two_copies@1 ~gated first:INSERT+keyed retry:INSERT+keyed first~open!cancelled retry~open")
	require.NoError(t, err)
	p := twoCopies
	p.Answers = []string{"unknown applied"}
	for range 20 {
		r := b.Replay(t.Context(), p, s)
		require.Empty(t, r.NoFit)
		require.Equal(t, lab.VerdictValid.String(), r.Report.Verdict.String(), r.Report.String())
		require.Contains(t, r.Report.Transcript, "first: <... INSERT keyed completed>  -- ERROR 57014")
		require.Equal(t, 2, r.Report.Gates)
	}
	quiet(t, b)
}

// A run that is stopped with statements at their gates leaves none there.
func TestNobodyIsLeftAtAGate(t *testing.T) {
	b := insideBench(t, inOneStatement(insideCases[3].sql, lab.Duplicate))
	s, err := lab.ParseSchedule(
		"two_copies@1 ~gated first:INSERT+keyed retry:INSERT+keyed first:COMMIT")
	require.NoError(t, err)
	require.NotEmpty(t, b.Replay(t.Context(), twoCopies, s).NoFit)
	quiet(t, b)
	e := b.Explore(t.Context(), lab.Exploration{Program: twoCopies, Gated: true})
	require.Equal(t, lab.VerdictValid.String(), e.Verdict.String())
}

// quiet demands that nobody waits for a lock and no gate is shut.
func quiet(t *testing.T, b *scenarios.Bench) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), b.Database.DSN())
	require.NoError(t, err)
	defer conn.Close(context.Background())
	var n int
	require.NoError(t, conn.QueryRow(t.Context(), `
SELECT count(*)
  FROM pg_locks
 WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database())
   AND (locktype = 'advisory' OR NOT granted)`).Scan(&n))
	require.Zero(t, n)
}

// A connection that opens in the middle of a run finds its gate shut.
func TestNewConnectionsFindTheirGatesShut(t *testing.T) {
	b := insideBench(t, inOneStatement(threeRows, lab.Unknown))
	insert := lab.RunsSQL(`INSERT INTO loose VALUES ('a', 'b'), ('a', 'c')`)
	e := b.Explore(t.Context(), lab.Exploration{Gated: true, Whole: true, Program: lab.Program{
		Name: "two_connections", Law: "of a test",
		Sessions: []lab.Actor{{Name: "one", Does: []lab.Act{insert, insert}}},
	}})
	require.Equal(t, lab.VerdictValid.String(), e.Verdict.String(), e.Failures)
	require.Equal(t, 4, e.Gates)
}

// Two statements that lock two rows crosswise: the one that closes the circle is the victim, every
// time, and what waits behind a gate is no deadlock.
func TestDeadlocksBetweenGates(t *testing.T) {
	b := insideBench(t, inOneStatement(threeRows, lab.Unknown))
	crosswise := func(first, second string) lab.Act {
		return lab.RunsSQL(`
WITH one AS (
	UPDATE state SET revision = revision + 1 WHERE source = 'crosswise' AND object = '` + first + `'
	RETURNING 1
)
UPDATE state SET revision = revision + 1
 WHERE source = 'crosswise' AND object = '` + second + `'
   AND (SELECT count(*) FROM one) = 1`)
	}
	p := lab.Program{
		Name: "crosswise", Law: "one of two is done at least",
		Answers: []string{"done done", "ERROR 40P01 done", "done ERROR 40P01"},
		Before: func(l *lab.Lab) {
			l.Quietly(`DELETE FROM state WHERE source = 'crosswise'`)
			l.Quietly(`INSERT INTO state VALUES ('crosswise', 'a', 1), ('crosswise', 'b', 1)`)
		},
		Sessions: []lab.Actor{
			{Name: "there", Does: []lab.Act{crosswise("a", "b")}},
			{Name: "back", Does: []lab.Act{crosswise("b", "a")}},
		},
	}
	e := b.Explore(t.Context(), lab.Exploration{Program: p, Gated: true, Whole: true, Audit: 1})
	require.Equal(t, lab.VerdictValid.String(), e.Verdict.String(), e.Failures)
	require.Len(t, e.Outcomes, 3, "with each of them as the victim")
	require.Empty(t, e.Varied)
	t.Log(e.Explored, e.Outcomes, e.Elapsed)
	quiet(t, b)
}

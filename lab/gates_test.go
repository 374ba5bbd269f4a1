package lab_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/postgres"
	"webhooklab/scenarios"
)

const insideSchema = `
CREATE TABLE loose (source text, id text);
CREATE TABLE keyed (source text, id text, PRIMARY KEY (source, id));
CREATE TABLE state (source text, object text, revision bigint, PRIMARY KEY (source, object));`

var insideState = lab.State{
	{Name: "loose_events", SQL: `SELECT source, id FROM loose`},
	{Name: "events", SQL: `SELECT source, id FROM keyed`},
	{Name: "objects", SQL: `SELECT source, object, revision FROM state`},
}

var insideLaws = []lab.Invariant{
	{Name: "once", Law: "an event is kept once",
		SQL: `SELECT source, id, count(*) FROM loose_events GROUP BY 1, 2 HAVING count(*) > 1`},
	{Name: "greatest", Law: "an object stands at its greatest revision",
		SQL: `SELECT source, revision FROM objects WHERE revision < 4`},
}

// A oneStatement receiver does everything in one statement outside a transaction, which must never
// need a second look.
type oneStatement struct {
	pool *pgxpool.Pool
	sql  string
	none lab.Answer // when it returns no row
}

func (o oneStatement) Close() { o.pool.Close() }

func (o oneStatement) Receive(ctx context.Context, d lab.Delivery) (lab.Answer, error) {
	var outcome string
	err := o.pool.QueryRow(ctx, o.sql, d.Source, d.EventID, d.Revision).Scan(&outcome)
	switch {
	case errors.Is(err, pgx.ErrNoRows) && o.none.Acked:
		return o.none, nil
	case err != nil:
		return lab.Unknown, err
	}
	return lab.Answer{Outcome: outcome, Acked: true}, nil
}

func inOneStatement(sql string, none lab.Answer) lab.NewReceiver {
	return func(ctx context.Context, dsn string) (lab.Receiver, error) {
		cfg, err := postgres.ParsePoolConfig(dsn)
		if err != nil {
			return nil, err
		}
		cfg.MaxConns = 1
		pool, err := pgxpool.NewWithConfig(ctx, cfg)
		return oneStatement{pool, sql, none}, err
	}
}

var twoCopies = lab.Program{
	Name: "two_copies", Law: "one event makes one change, however many copies are in flight",
	Answers: []string{"applied duplicate", "duplicate applied"},
	Sessions: []lab.Actor{
		{Name: "first", Does: []lab.Act{lab.Delivers(event("paid"))}},
		{Name: "retry", Does: []lab.Act{lab.Delivers(event("paid"))}},
	},
}

var twoRevisions = lab.Program{
	Name: "two_revisions", Law: "any order of concurrent revisions ends at the greatest",
	Answers: []string{"applied applied", "stale applied"},
	Before: func(l *lab.Lab) {
		l.Quietly(`INSERT INTO state VALUES ($1, 'order', 2)`, l.Source("shop"))
	},
	Sessions: []lab.Actor{
		{Name: "older", Does: []lab.Act{lab.Delivers(revised(3))}},
		{Name: "newer", Does: []lab.Act{lab.Delivers(revised(4))}},
	},
}

func revised(n int64) lab.Delivery {
	d := event("order")
	d.Revision = n
	return d
}

// insideCases are statements that look safe, since each is one statement, and whether they are.
var insideCases = []struct {
	name    string
	program lab.Program
	sql     string
	none    lab.Answer
	sound   bool
}{
	{"where_not_exists_without_key", twoCopies, `
INSERT INTO loose
SELECT $1::text, $2::text
 WHERE NOT EXISTS (SELECT FROM loose WHERE source = $1 AND id = $2 AND $3::bigint > 0)
RETURNING 'applied'`, lab.Duplicate, false},
	{"where_not_exists_with_key", twoCopies, `
INSERT INTO keyed
SELECT $1::text, $2::text
 WHERE NOT EXISTS (SELECT FROM keyed WHERE source = $1 AND id = $2 AND $3::bigint > 0)
RETURNING 'applied'`, lab.Duplicate, false},
	{"insert_or_select", twoCopies, `
WITH claimed AS (
	INSERT INTO keyed
	VALUES ($1, $2)
	    ON CONFLICT DO NOTHING
	RETURNING id
)
SELECT 'applied' FROM claimed
 UNION ALL
SELECT 'duplicate' FROM keyed WHERE source = $1 AND id = $2 AND $3::bigint > 0`,
		lab.Unknown, false},
	{"on_conflict_do_nothing", twoCopies, `
INSERT INTO keyed
SELECT $1, $2
 WHERE $3::bigint > 0
    ON CONFLICT DO NOTHING
RETURNING 'applied'`, lab.Duplicate, true},
	{"update_guarded_in_where", twoRevisions, `
UPDATE state
   SET revision = $3
 WHERE source = $1 AND object = $2 AND revision < $3
RETURNING 'applied'`, lab.Stale, true},
	{"update_guarded_by_sub_select", twoRevisions, `
UPDATE state
   SET revision = $3
 WHERE source = $1 AND object = $2
   AND $3 > (SELECT revision FROM state WHERE source = $1 AND object = $2)
RETURNING 'applied'`, lab.Stale, false},
	{"on_conflict_do_update_guarded", twoRevisions, `
INSERT INTO state AS s
VALUES ($1, $2, $3)
    ON CONFLICT (source, object) DO UPDATE
   SET revision = excluded.revision
 WHERE s.revision < excluded.revision
RETURNING 'applied'`, lab.Stale, true},
}

func insideBench(t *testing.T, r lab.NewReceiver) *scenarios.Bench {
	b, err := stage.Bench(t.Context(), postgres.Fast,
		scenarios.Suite{Receiver: r, Laws: insideLaws},
		scenarios.Options{Schema: insideSchema, State: insideState})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close(context.Background())) })
	return b
}

// Thirty explorations with gates find what is broken thirty times, thirty without never do: between
// commands there is nothing to see. What is sound is found sound in both.
func TestRacesInsideAStatement(t *testing.T) {
	for _, c := range insideCases {
		t.Run(c.name, func(t *testing.T) {
			b := insideBench(t, inOneStatement(c.sql, c.none))
			found, foundWithout := 0, 0
			for range 30 {
				gated, control := b.ExploreGated(t.Context(),
					lab.Exploration{Program: c.program, Whole: true, Stop: 100})
				require.True(t, gated.Complete() && control.Complete())
				require.Positive(t, gated.Gates)
				require.Zero(t, control.Gates)
				found += broken(t, gated)
				foundWithout += broken(t, control)
			}
			t.Logf("found %d of 30 with gates, %d without", found, foundWithout)
			require.Equal(t, map[bool]int{true: 0, false: 30}[c.sound], found)
			require.Zero(t, foundWithout)
			reducesSoundly(t, b, c.program)
		})
	}
}

// reducesSoundly demands that what is left out by reduction ends as something that is not.
func reducesSoundly(t *testing.T, b *scenarios.Bench, p lab.Program) {
	t.Helper()
	whole := b.Explore(t.Context(), lab.Exploration{Program: p, Gated: true, Whole: true, Stop: 1000})
	less := b.Explore(t.Context(), lab.Exploration{Program: p, Gated: true, Stop: 1000})
	require.True(t, whole.Complete() && less.Complete())
	require.Equal(t, endings(whole.States), endings(less.States))
	t.Logf("%d orders, %d after reduction", whole.Explored, less.Explored)
}

func endings(states map[string]int) []string { return slices.Sorted(maps.Keys(states)) }

func broken(t *testing.T, e lab.Explored) int {
	t.Helper()
	for _, f := range e.Failures {
		require.Equal(t, lab.VerdictInvalid.String(), f.Report.Verdict.String(), f.Report.String())
	}
	return min(1, len(e.Failures))
}

package lab_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
)

// What a text touches is read from its plan; what has none touches everything.
func TestFootprints(t *testing.T) {
	b := bench(t)
	require.NoError(t, b.Exec(t.Context(), `
CREATE TABLE pair (a text, b bigint, c text, PRIMARY KEY (a, b), UNIQUE (c));
CREATE TABLE child (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	a text, b bigint, FOREIGN KEY (a, b) REFERENCES pair);
CREATE TABLE partly (a text, done boolean);
CREATE UNIQUE INDEX partly_open ON partly (a) WHERE NOT done;
CREATE FUNCTION reader() RETURNS bigint STABLE LANGUAGE sql AS 'SELECT count(*) FROM pair';
CREATE FUNCTION pure(a bigint) RETURNS bigint IMMUTABLE LANGUAGE sql AS 'SELECT a + 1';`))
	for _, c := range []struct {
		sql  string
		args []string
		want string
	}{
		{`INSERT INTO pair VALUES ($1, $2, $3)`, []string{"x", "7", "y"},
			`writes public.pair[pair_c_key="y" pair_pkey="x""7"]`},
		{`INSERT INTO pair VALUES ($1, $2, $3) ON CONFLICT (a, b) DO UPDATE SET c = excluded.c`,
			[]string{"x", "7", "y"}, "reads public.pair, writes public.pair"},
		{`INSERT INTO pair (a, b, c) SELECT a, b + 1, c FROM pair`, nil,
			"reads public.pair, writes public.pair"},
		{`SELECT * FROM pair WHERE a = $1 AND b = $2`, []string{"x", "7"},
			`reads public.pair[pair_pkey="x""7"]`},
		{`SELECT * FROM pair WHERE a = $1`, []string{"x"}, "reads public.pair"},
		{`SELECT * FROM pair WHERE a = $1 AND b >= $2`, []string{"x", "7"}, "reads public.pair"},
		{`SELECT * FROM pair WHERE c = $1 FOR UPDATE`, []string{"y"},
			`reads public.pair[pair_c_key="y"], writes public.pair[pair_c_key="y"]`},
		{`UPDATE pair SET c = $1 WHERE a = $2 AND b = $3`, []string{"y", "x", "7"},
			`reads public.pair[pair_pkey="x""7"], writes public.pair`},
		{`DELETE FROM pair WHERE c = $1`, []string{"y"},
			`reads public.pair[pair_c_key="y"], writes public.pair[pair_c_key="y"]`},
		{`SELECT * FROM pair WHERE c = (SELECT max(id)::text FROM child) AND b <> $1`,
			[]string{"7"}, "reads public.child, reads public.pair"},
		{`INSERT INTO child (a, b) VALUES ($1, $2)`, []string{"x", "7"},
			"reads public.pair, writes public.child, writes public.pair"},
		{`INSERT INTO partly VALUES ($1, false)`, []string{"x"}, "writes public.partly"},
		{`SELECT pure($1)`, []string{"7"}, ""},
		{`SELECT reader()`, nil, "everything"},
		{`SELECT pg_advisory_xact_lock(1)`, nil, "everything"},
		{`SELECT count(*) FROM pair`, nil, "reads public.pair"},
		{`LOCK TABLE pair`, nil, "everything"},
		{`no SQL at all`, nil, "everything"},
	} {
		got, err := lab.Footprint(t.Context(), b.Database.DSN(), c.sql, c.args...)
		require.NoError(t, err)
		require.Equal(t, c.want, got, c.sql)
	}
}

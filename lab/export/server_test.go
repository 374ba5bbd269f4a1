package export

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/postgres"
	"webhooklab/toxiproxy"
)

// A literal is the very value that crossed the wire, in either format and of any type; and SQL
// without braces says the same as with them. The server is asked.
func TestWhatIsWrittenIsWhatWasSent(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	server, err := postgres.Start(ctx, postgres.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, server.Stop(context.Background())) }()
	template, err := server.Template(ctx, "CREATE DOMAIN odd AS text CHECK (value <> '');"+
		"CREATE TYPE mood AS ENUM ('fine'); CREATE TYPE pair AS (a int, b text)")
	require.NoError(t, err)
	clone, err := template.Clone(ctx)
	require.NoError(t, err)
	conn, err := pgx.Connect(ctx, clone.DSN())
	require.NoError(t, err)
	defer conn.Close(ctx)

	for _, spelled := range hostile {
		for _, format := range []int16{pgx.TextFormatCode, pgx.BinaryFormatCode} {
			sameValue(t, ctx, conn, spelled, format)
		}
	}
	for _, sql := range braced {
		plain, err := withoutBraces(sql)
		require.NoError(t, err)
		require.Equal(t, everything(t, ctx, conn, sql), everything(t, ctx, conn, plain), plain)
	}
}

// hostile are values as SQL expressions, with their types.
var hostile = []struct{ value, kind string }{
	{`E'it''s \\ "x" \u202e $1 -- /* \n\t\x1b'`, "text"}, {"''", "text"}, {"NULL", "text"},
	{`'[1, 2]}'`, "text"}, {"'~run~'", "text"}, {"'x'", `"char"`}, {"'ab   '", "character(5)"},
	{"B'101'", "bit(3)"}, {"'101'", "varbit"}, {`'\x00ff'`, "bytea"}, {"true", "boolean"},
	{"-1", "bigint"}, {"1.50", "numeric"}, {"'NaN'", "numeric"}, {"0.1", "double precision"},
	{"'2026-11-30 12:00:00.000001+00'", "timestamptz"}, {"'infinity'", "timestamp"},
	{"'1 mon -2 days 03:00'", "interval"}, {"'12:00'", "time"}, {"'12:00+02'", "timetz"},
	{`'{"a": "it''s \\ } \u0001"}'`, "jsonb"}, {`'{"b": 1e2 }'`, "json"},
	{`ARRAY['a,b', 'c"}', NULL, '\']`, "text[]"}, {"'{}'", "integer[]"},
	{"'10.0.0.1/8'", "inet"}, {"'a'", "name"}, {"gen_random_uuid()", "uuid"}, {"'x'", "odd"},
	{"'fine'", "mood"}, {`ROW(1, 'it''s')`, "pair"}, {"'[1,5)'", "int4range"}, {"'<a/>'", "xml"},
}

func sameValue(
	t *testing.T, ctx context.Context, conn *pgx.Conn, h struct{ value, kind string }, format int16,
) {
	sent := conn.PgConn().ExecParams(ctx, fmt.Sprintf("SELECT (%s)::%s", h.value, h.kind),
		nil, nil, nil, []int16{format}).Read()
	if format == pgx.BinaryFormatCode && sent.Err != nil {
		return // a type without a binary form
	}
	require.NoError(t, sent.Err, h)
	x := literals{conn, &lab.Trace{Fresh: "~none~"}}
	sql, err := x.inline(ctx, toxiproxy.Statement{
		SQL:  "SELECT $1::" + strings.Split(h.kind, "(")[0] + " IS NOT DISTINCT FROM NULL, $1",
		Args: [][]byte{sent.Rows[0][0]}, Formats: []int16{format},
	})
	require.NoError(t, err, h)
	got := conn.PgConn().ExecParams(ctx, sql, nil, nil, nil, []int16{0, format}).Read()
	require.NoError(t, got.Err, sql)
	require.Equal(t, sent.Rows[0][0], got.Rows[0][1], sql)
}

// everything is all that SQL returns: names, values and tag.
func everything(t *testing.T, ctx context.Context, conn *pgx.Conn, sql string) []result {
	all, err := results(ctx, conn.PgConn(), sql)
	require.NoError(t, err, sql)
	for _, r := range all {
		r.columns = append([]string(nil), r.columns...)
	}
	return all
}

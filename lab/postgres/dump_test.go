package postgres

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

const furnished = notes + `
CREATE SCHEMA "Odd one";
CREATE TABLE "Odd one"."it's" (k text, v jsonb);
CREATE VIEW short AS SELECT id FROM note WHERE length(body) < 5;
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE 'append only'; END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON note
  FOR EACH ROW EXECUTE FUNCTION refuse();
INSERT INTO note VALUES (2, 'b'), (1, 'a');
INSERT INTO "Odd one"."it's" VALUES ('x', '{"a": 1}');
`

func TestDumpShowsEverything(t *testing.T) {
	s, ctx := startLocalServer(t, Fast), bounded(t)
	template, err := s.Template(ctx, furnished)
	require.NoError(t, err)
	db, err := template.Clone(ctx)
	require.NoError(t, err)
	var first, second strings.Builder
	require.NoError(t, db.Dump(ctx, &first))
	require.NoError(t, db.Dump(ctx, &second))
	require.Equal(t, first.String(), second.String())
	for _, want := range []string{
		`-- table "Odd one"."it's"` + "\n" + `{"k":"x","v":{"a": 1}}`,
		"-- table public.note\n" + `{"id":1,"body":"a"}` + "\n" + `{"id":2,"body":"b"}`,
		"-- view public.short\n SELECT ", // then note.id, from 16 on id
		"CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.note",
	} {
		require.Contains(t, first.String(), want)
	}
}

func TestDumpNamesALockedTable(t *testing.T) {
	s, ctx := startLocalServer(t, Fast), bounded(t)
	template, err := s.Template(ctx, furnished)
	require.NoError(t, err)
	db, err := template.Clone(ctx)
	require.NoError(t, err)
	conn, err := s.connect(ctx, db.Name())
	require.NoError(t, err)
	defer conn.Close(ctx)
	tx, err := conn.Begin(ctx)
	require.NoError(t, err)
	_, err = tx.Exec(ctx, "LOCK TABLE note IN ACCESS EXCLUSIVE MODE")
	require.NoError(t, err)

	var out strings.Builder
	require.NoError(t, db.Dump(ctx, &out))
	require.Contains(t, out.String(), "-- table public.note: not read: ")
	require.Contains(t, out.String(), "-- view public.short: not read: ")
	require.Contains(t, out.String(), `{"k":"x","v":{"a": 1}}`)
	require.NoError(t, tx.Rollback(ctx))
}

func TestTemplateFaultNamesItsLine(t *testing.T) {
	s, ctx := startLocalServer(t, Fast), bounded(t)
	_, err := s.Template(ctx, "CREATE TABLE a (x int);\nCREATE TABLE b (x nonsense);")
	require.ErrorContains(t, err, "line 2: ")
	_, err = s.Template(ctx, "CREATE TABLE a (x int);\nCREATE TABLE b (x nonsense);")
	require.ErrorContains(t, err, "line 2: ", "an unfinished template is made again")
	require.NotErrorIs(t, err, pgx.ErrNoRows)
}

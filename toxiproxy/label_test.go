package toxiproxy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLabel(t *testing.T) {
	for sql, want := range map[string]string{
		"INSERT INTO webhook_inbox (a) VALUES ($1)":                 "INSERT webhook_inbox",
		"insert into public.webhook_inbox select 1":                 "INSERT webhook_inbox",
		`INSERT INTO "Odd ""Name"".x" VALUES (1)`:                   `INSERT Odd "Name".x`,
		`insert into "public" . "Mixed" values (1)`:                 "INSERT Mixed",
		"UPDATE ONLY x SET a = 1 FROM y":                            "UPDATE x",
		"UPDATE X SET a = 1":                                        "UPDATE x",
		"DELETE FROM ONLY x USING y":                                "DELETE x",
		"MERGE INTO x USING y ON true WHEN MATCHED THEN DO NOTHING": "MERGE x",
		"SELECT a, (SELECT 1 FROM inner_one) FROM webhook_inbox w":  "SELECT webhook_inbox",
		"SELECT extract(epoch FROM now())":                          "SELECT",
		"SELECT extract(epoch FROM now()) FROM x":                   "SELECT x",
		"SELECT a IS DISTINCT FROM b FROM x":                        "SELECT x",
		"SELECT * FROM (SELECT 1 FROM y) s":                         "SELECT y",
		"SELECT * FROM unnest($1::int[])":                           "SELECT unnest",
		"(SELECT 1 FROM x) UNION SELECT 2":                          "SELECT x",
		"SELECT 'FROM y', $q$ FROM z $q$, E'\\' FROM q' FROM x":     "SELECT x",
		"SELECT $1 FROM x":                                          "SELECT x",
		"SELECT 1":                                                  "SELECT",
		"TABLE x":                                                   "SELECT x",
		"VALUES (1)":                                                "VALUES",
		"WITH a AS (INSERT INTO y VALUES (1) RETURNING *), b (c) AS MATERIALIZED (SELECT 1 FROM z)" +
			" UPDATE x SET a = 1": "UPDATE x",
		"WITH RECURSIVE a AS (SELECT 1) SELECT * FROM a":                 "SELECT a",
		"-- why\n/* nested /* deep */ still */ INSERT INTO x VALUES (1)": "INSERT x",
		"COPY x (a, b) FROM STDIN BINARY":                                "COPY x",
		"copy \"s\".\"x\" ( \"a\" ) from stdin binary;":                  "COPY x",
		"COPY (SELECT 1 FROM y) TO STDOUT":                               "COPY",
		"BEGIN ISOLATION LEVEL READ COMMITTED":                           "BEGIN",
		"start transaction read only":                                    "BEGIN",
		"commit":                                                         "COMMIT",
		"END":                                                            "COMMIT",
		"COMMIT PREPARED 'x'":                                            "COMMIT PREPARED",
		"rollback":                                                       "ROLLBACK",
		"ABORT WORK":                                                     "ROLLBACK",
		"ROLLBACK WORK TO SAVEPOINT a":                                   "ROLLBACK TO",
		"ROLLBACK TRANSACTION TO a":                                      "ROLLBACK TO",
		"PREPARE TRANSACTION 'x'":                                        "PREPARE TRANSACTION",
		"SAVEPOINT a":                                                    "SAVEPOINT",
		"LISTEN channel":                                                 "LISTEN",
		"SET CONSTRAINTS ALL IMMEDIATE":                                  "SET CONSTRAINTS",
		"LOCK TABLE x IN SHARE MODE":                                     "LOCK x",
		"TRUNCATE TABLE ONLY s.x":                                        "TRUNCATE x",
		"CREATE TEMP TABLE IF NOT EXISTS x (a int)":                      "CREATE TABLE x",
		"CREATE OR REPLACE FUNCTION f() RETURNS int AS $$ SELECT 1; $$": "CREATE FUNCTION f",
		"CREATE UNIQUE INDEX CONCURRENTLY i ON x (a)":                   "CREATE INDEX i",
		"DROP TABLE IF EXISTS s.x":                                      "DROP TABLE x",
		"CALL p(1)":                                                     "CALL p",
		"":                                                              "EMPTY",
		"'text'":                                                        "EMPTY",
		"WITH a AS (":                                                   "WITH",
		"INSERT":                                                        "INSERT",
		"INSERT INTO x.":                                                "INSERT x",
	} {
		require.Equal(t, want, label(sql), sql)
	}
}

func simple(sql string) Command {
	c := Command{}
	for _, s := range split(sql) {
		c.Statements = append(c.Statements, Statement{SQL: s})
	}
	return c
}

func TestLabelOfSeveral(t *testing.T) {
	for sql, want := range map[string]string{
		"":                                "SYNC",
		"-- ping":                         "SYNC",
		"INSERT INTO a VALUES (';'); ":    "INSERT a",
		"INSERT INTO a; INSERT INTO b":    "BATCH INSERT a, INSERT b",
		"INSERT INTO a; INSERT INTO a;":   "BATCH INSERT a ×2",
		"BEGIN; SET LOCAL a = 1":          "BEGIN",
		"SET a = 1; SET b = 2":            "BATCH SET ×2",
		"BEGIN; INSERT INTO a; COMMIT":    "BATCH BEGIN, INSERT a, COMMIT",
		"SELECT (1; 2) FROM x; SELECT 1;": "BATCH SELECT x, SELECT",
	} {
		require.Equal(t, want, simple(sql).Label(), sql)
	}
	require.Equal(t, "SELECT 1; SELECT ';'", simple(" SELECT 1 ;; SELECT ';' ;").SQL())
}

func TestLocal(t *testing.T) {
	for _, sql := range []string{"", ";", "-- ping", "/* */", "BEGIN",
		"begin isolation level serializable", "START TRANSACTION",
		"BEGIN; SET LOCAL lock_timeout = 1; SET x TO y", "SET a = 1", "RESET ALL", "SHOW a",
		"DISCARD ALL", "DEALLOCATE ALL"} {
		require.True(t, simple(sql).Local(), sql)
		require.True(t, Command{Statements: []Statement{{SQL: sql}}}.Local(), sql)
	}
	for _, sql := range []string{"SELECT 1", "(SELECT 1)", "COMMIT", "ROLLBACK", "BEGIN; SELECT 1",
		"SET CONSTRAINTS ALL IMMEDIATE", "START", "SAVEPOINT a", "LISTEN a", "'x'"} {
		require.False(t, simple(sql).Local(), sql)
	}
}

func TestCommitted(t *testing.T) {
	for _, c := range []struct {
		want  bool
		state string
		tx    byte
		tags  []string
	}{
		{true, "", 'I', []string{"COMMIT"}},
		{true, "", 'I', []string{"INSERT 0 1"}},
		{true, "", 'T', []string{"COMMIT", "BEGIN"}},
		{true, "23505", 'I', []string{"COMMIT"}},
		{false, "", 'I', []string{"ROLLBACK"}},
		{false, "", 'I', []string{"INSERT 0 1", "ROLLBACK"}},
		{false, "", 'T', []string{"INSERT 0 1"}},
		{false, "23505", 'I', []string{"INSERT 0 1"}},
		{false, "", 'I', nil},
		{false, "", 0, []string{"INSERT 0 1"}},
		{false, "", 'I', []string{"PREPARE TRANSACTION"}},
	} {
		a := Answer{Tags: c.tags, SQLState: c.state, TxStatus: c.tx}
		require.Equal(t, c.want, a.Committed(), "%+v", a)
	}
}

// Whatever the SQL, it is cut without a crash, and nothing but blanks and comments is lost.
func FuzzLabel(f *testing.F) {
	for _, s := range []string{"SELECT 1;--x", "/*/*", "E'\\", "$a$;$a$", `"a""`, "WITH (",
		"$1$", "é."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		c := simple(sql)
		_, _, _ = c.Label(), c.Local(), label(sql)
		for _, s := range c.Statements {
			require.True(t, strings.Contains(sql, s.SQL))
			require.NotEmpty(t, s.SQL)
		}
		again := simple(c.SQL())
		require.LessOrEqual(t, len(again.Statements), max(1, len(c.Statements)))
	})
}

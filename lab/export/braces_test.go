package export

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// braced is SQL in which a closing brace stands wherever SQL allows one.
var braced = []string{
	`SELECT '{"a": {"b\\c": "it''s"}}'::jsonb`,
	`SELECT '\}', '\\}', '}'`,
	`SELECT E'\}', E'\\}', E'it\'s}', e'}\n'`,
	`SELECT $$}$$, $q$ it's \} $$ $q$`,
	"SELECT '}'\n'\\}'",
	"SELECT E'}'\n'\\\\}'",
	`SELECT 1 AS "}", 2 AS "\""}"`,
	"SELECT 1 -- }\n, 2 /* } */",
	`SELECT '{1,2}'::int[], 'none'`,
}

func TestBracesAreSpelledOtherwise(t *testing.T) {
	for sql, want := range map[string]string{
		`SELECT '{"a": 1}'`:    `SELECT E'{"a": 1\x7D'`,
		`SELECT '\}'`:          `SELECT E'\\\x7D'`,
		`SELECT E'\}\\}'`:      `SELECT E'\x7D\\\x7D'`,
		`SELECT $$it's}$$`:     `SELECT E'it''s\x7D'`,
		`SELECT "\}"`:          `SELECT U&"\\\007D"`,
		"SELECT 1 -- }":        "SELECT 1 -- )",
		"SELECT '\\}'\n'b\\}'": `SELECT E'\\\x7D'` + "\n" + `'b\\\x7D'`,
	} {
		got, err := withoutBraces(sql)
		require.NoError(t, err, sql)
		require.Equal(t, want, got)
	}
	for _, sql := range braced {
		got, err := withoutBraces(sql)
		require.NoError(t, err, sql)
		require.NotContains(t, strings.ReplaceAll(got, `\x7D`, ""), "}")
	}
	for _, sql := range []string{`SELECT U&'}'`, "SELECT }"} {
		_, err := withoutBraces(sql)
		require.Error(t, err, sql)
	}
}

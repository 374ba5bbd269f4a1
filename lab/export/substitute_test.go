package export

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestArgumentsStandInTheirPlaces(t *testing.T) {
	values := []argument{{"'x'", "text"}, {"'{1,2}'", "integer[]"}, {"E'\\x01'", "jsonb"}}
	for sql, want := range map[string]string{
		"SELECT $1":                         "SELECT 'x'::text",
		"SELECT $1, $1":                     "SELECT 'x'::text, 'x'::text",
		"SELECT f($1,$3)":                   `SELECT f('x'::text,E'\x01'::jsonb)`,
		"SELECT $3::jsonb":                  `SELECT E'\x01'::jsonb`,
		"SELECT $3::jsonb[]":                `SELECT E'\x01'::jsonb::jsonb[]`,
		"SELECT $3::text":                   `SELECT E'\x01'::jsonb::text`,
		"SELECT $2[1]":                      "SELECT ('{1,2}'::integer[])[1]",
		"SELECT $2 [1]":                     "SELECT ('{1,2}'::integer[]) [1]",
		"SELECT u&$1":                       "SELECT u&('x'::text)",
		"SELECT a=$1":                       "SELECT a=('x'::text)",
		"SELECT a[1:$1]":                    "SELECT a[1:('x'::text)]",
		"SELECT -$1":                        "SELECT -('x'::text)",
		"SELECT $4, $0, $1":                 "SELECT $4, $0, 'x'::text",
		"SELECT '$1', \"$1\", $q$ $1 $q$":   "SELECT '$1', \"$1\", $q$ $1 $q$",
		"SELECT a$1, E'\\'$1', $1":          "SELECT a$1, E'\\'$1', 'x'::text",
		"SELECT 1 -- $1\n, $1":              "SELECT 1 -- $1\n, 'x'::text",
		"SELECT /* $1 /* */ $1 */ $1":       "SELECT /* $1 /* */ $1 */ 'x'::text",
		"SELECT $1; -- the end":             "SELECT 'x'::text",
		"/* why */ ;SELECT $1 ; ":           "SELECT 'x'::text",
		"SELECT\t$1\t-- a\tb\n, '\t'":       "SELECT  'x'::text  -- a  b\n, '\t'",
		"SELECT 'a'\n'\\' , $1 , ' $1 '":    "SELECT 'a'\n'\\' , 'x'::text , ' $1 '",
		"SELECT E'a'\n'\\' $1 ' , $1 --' ":  "SELECT E'a'\n'\\' $1 ' , 'x'::text",
		"INSERT INTO t VALUES ($1,\n  $1)":  "INSERT INTO t VALUES ('x'::text,\n  'x'::text)",
		"SELECT U&'\\0061$1', u&\"$1\", $1": "SELECT U&'\\0061$1', u&\"$1\", 'x'::text",
	} {
		require.Equal(t, want, substitute(sql, values), sql)
	}
}

func TestLiteralsHoldNothingThatATerminalObeys(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "''",
		"it's":                 "'it''s'",
		`back\slash`:           `'back\slash'`,
		"two\nlines":           "'two\nlines'",
		"tab\tand\x1b[2J":      `E'tab\x09and\x1B[2J'`,
		"it's \\ \x07":         `E'it''s \\ \x07'`,
		"right\u202eleft":      `E'right\u202Eleft'`,
		"\U000e0001":           `E'\U000E0001'`,
		"grün 🙂":               "'grün 🙂'",
		"${IFS}; \\! rm -rf /": `'${IFS}; \! rm -rf /'`,
	} {
		require.Equal(t, want, asLiteral(text), text)
	}
}

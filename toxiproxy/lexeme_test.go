package toxiproxy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func kinds(sql string) string {
	names := map[LexemeKind]string{Blank: "_", Word: "w", Identifier: "i", Literal: "l",
		Parameter: "p", Mark: "m"}
	var b strings.Builder
	for _, x := range Lexemes(sql) {
		b.WriteString(names[x.Kind])
	}
	return b.String()
}

func TestLexemes(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT $1":                       "w_p",
		"SELECT $12::int":                 "w_pmmw",
		"SELECT a$1":                      "w_w",
		"SELECT '$1', \"$1\"":             "w_lm_i",
		"SELECT $$ $1 $$":                 "w_l",
		"SELECT $q$ $1 $$ $q$":            "w_l",
		"SELECT 1 -- $1":                  "w_l_",
		"SELECT /* $1 /* $2 */ $3 */ $4":  "w_p",
		`SELECT E'\' $1', $1`:             "w_lm_p",
		`SELECT '\', $1, '`:               "w_lm_pm_l",
		"SELECT U&'$1', u&\"$1\", u & $1": "w_lm_im_w_m_p",
		"SELECT u&$1":                     "w_wmp",
		"SELECT E'a'\n '\\' $1', $1":      "w_lm_p",
		"SELECT 'a' -- it's\n'b' , $1":    "w_l_m_p",
		"SELECT 'a' 'b'":                  "w_l_l",
		"SELECT 'a' -- b":                 "w_l_",
		"SELECT 'it''s $1'":               "w_l",
		"SELECT a[$1], b.$2":              "w_wmpmm_wmp",
		"SELECT 'open $1":                 "w_l",
		"":                                "",
		" ":                               "_",
	} {
		require.Equal(t, want, kinds(sql), sql)
	}
}

func FuzzLexemesKeepEveryByte(f *testing.F) {
	for _, sql := range []string{"U&'", "u&\"", "'a'\n--", "$", "$$", "E'\\", "/*", "U&", "a'\r'b"} {
		f.Add(sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		var b strings.Builder
		for _, x := range Lexemes(sql) {
			b.WriteString(x.Text)
		}
		require.Equal(t, sql, b.String())
	})
}

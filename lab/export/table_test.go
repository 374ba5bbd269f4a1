package export

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTablesAreThoseOfLibpq(t *testing.T) {
	one, text, empty := "1", "grün", ""
	for want, r := range map[string]result{
		"":                                {tag: "COMMIT"},
		"a|b\n-+-\n(0 rows)\n\n":          {columns: []string{"a", "b"}},
		"n\n-\n1\n(1 row)\n\n":            {columns: []string{"n"}, rows: [][]*string{{&one}}},
		"long\n----\n   1\n(1 row)\n\n":   {columns: []string{"long"}, rows: [][]*string{{&one}}},
		"t    \n-----\ngrün\n(1 row)\n\n": {columns: []string{"t"}, rows: [][]*string{{&text}}},
		"a|t    \n-+-----\n1|grün\n |     \n(2 rows)\n\n": {columns: []string{"a", "t"},
			rows: [][]*string{{&one, &text}, {nil, &empty}}},
	} {
		require.Equal(t, want, r.table())
	}
}

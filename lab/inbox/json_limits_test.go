package inbox_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"webhooklab/lab/inbox"
)

// takes reports whether jsonb takes the document and gives it back as text.
func (d *database) takes(t require.TestingT, document string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var length int
	err := d.pool.QueryRow(ctx, `SELECT length($1::jsonb::text)`, document).Scan(&length)
	if err != nil {
		require.Regexp(t, "^(22|54)", serverError(err).Code, "%v", err)
	}
	return err == nil
}

func checks(document string) bool {
	_, err := inbox.ParseSnapshotEvent("shop", []byte(body(`"e"`, `"o"`, `1`, document)))
	return err == nil
}

// At numeric's borders the check and the server say the same.
func TestNumbersAreCheckedAsTheServerWould(t *testing.T) {
	d := newDatabase(t)
	zeros, nines := strings.Repeat("0", 16382), strings.Repeat("9", 131071)
	for number, fits := range map[string]bool{
		"1e131071": true, "1e131072": false,
		"9.99e131071": true, "0.1e131072": true, "0.1e131073": false, "10e131071": false,
		"1e+131071": true, "1E131071": true, "1e0131071": true,
		"1e-16383": true, "1e-16384": false, "1.0e-16382": true, "1.0e-16383": false,
		"0e131072": true, "0e-16383": true, "0e-16384": false, "0.0e-16383": false,
		"-0": true, "-0.0e5": true,
		"0." + zeros + "1": true, "0." + zeros + "01": false, "0." + zeros + "01e1": true,
		"1." + zeros + "0": true, "1." + zeros + "00": false,
		nines + "9": true, nines + "99": false, nines + "99e-1": true, nines + ".9e2": false,
		"1e99999999": false, "1e-99999999": false, "1e99999999999999999999": false,
		"1e2147483648": false, "1e-2147483649": false, "1e1073741824": false,
	} {
		require.Equal(t, fits, d.takes(t, `{"v":`+number+`}`), "server: %.40s", number)
		require.Equal(t, fits, checks(`{"v":`+number+`}`), "check: %.40s", number)
	}
}

func TestDrawnDocumentsAreCheckedAsTheServerWould(t *testing.T) {
	d := newDatabase(t)
	rapid.Check(t, func(t *rapid.T) {
		document := `{` + member(3).Draw(t, "member") + `}`
		require.Equal(t, d.takes(t, document), checks(document), document)
	})
}

// member draws a key and a value that nests at most that deep, near the limits of jsonb.
func member(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return text().Draw(t, "key") + ":" + value(depth).Draw(t, "value")
	})
}

func value(depth int) *rapid.Generator[string] {
	if depth == 0 {
		return rapid.OneOf(text(), number(), rapid.SampledFrom([]string{"true", "false", "null"}))
	}
	return rapid.Custom(func(t *rapid.T) string {
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			members := rapid.SliceOfN(member(depth-1), 0, 3).Draw(t, "object")
			return "{" + strings.Join(members, " , ") + "}"
		case 1:
			values := rapid.SliceOfN(value(depth-1), 0, 3).Draw(t, "array")
			return "[" + strings.Join(values, ",") + "]"
		default:
			return value(0).Draw(t, "leaf")
		}
	})
}

// text draws strings full of escapes, half of them broken by a chance neighbour.
func text() *rapid.Generator[string] {
	part := rapid.SampledFrom([]string{
		`\ud83d\ude00`, `\ud83d`, `\ude00`, `\u0000`, `\\u0000`, `\\`, `\"`, `\u0001`, `\uFFFF`,
		`\ud83d\u0041`, `\u00E9`, `\uD83D\uDE00`, `\/`, `\b\f\n\r\t`, "é", "😀", "\x7f", "\u2028",
		"a", "u0000", `\udbff\udfff`, `\ude00\ude00`, `\ud83d\ud83d`, `\ud83d\\ude00`, "'", "{", "[", "]", "}", ",", ":",
	})
	return rapid.Custom(func(t *rapid.T) string {
		return `"` + strings.Join(rapid.SliceOfN(part, 0, 4).Draw(t, "text"), "") + `"`
	})
}

// number draws numbers of every size, most of them near a border of numeric.
func number() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		sign := rapid.SampledFrom([]string{"", "-"}).Draw(t, "sign")
		whole := rapid.SampledFrom([]string{"0", "1", "10", "90071992547409930", "5000"}).
			Draw(t, "whole")
		fraction := rapid.SampledFrom([]string{"", ".0", ".5", ".0001", ".10000", ".00000"}).
			Draw(t, "fraction")
		if rapid.Bool().Draw(t, "plain") {
			return sign + whole + fraction
		}
		border := rapid.SampledFrom([]int{0, 131072, -16383}).Draw(t, "border")
		exponent := border + rapid.IntRange(-20, 20).Draw(t, "off the border")
		form := rapid.SampledFrom([]string{"e%d", "E%d", "e%+d", "e%+09d"}).Draw(t, "form")
		return sign + whole + fraction + fmt.Sprintf(form, exponent)
	})
}

package properties_test

import (
	"fmt"
	"strconv"
	"strings"

	"pgregory.net/rapid"
)

// node is a JSON value apart from its spelling.
type node struct {
	kind   kind
	yes    bool
	number number
	text   string
	list   []node
	fields []field // their names differ
}

type kind int

const (
	null kind = iota
	boolean
	numeral
	text
	list
	object
)

type field struct {
	name  string
	value node
}

// number is ±digits × 10^power. The digits neither begin nor end with 0; zero has none.
type number struct {
	negative bool
	digits   string
	power    int
}

func drawObject(t *rapid.T, label string) node {
	return rapid.Custom(func(t *rapid.T) node { return drawFields(t, 3) }).Draw(t, label)
}

func drawFields(t *rapid.T, depth int) node {
	n := node{kind: object}
	seen := map[string]bool{}
	for range rapid.IntRange(0, 3).Draw(t, "fields") {
		name := drawText(t)
		if seen[name] {
			continue
		}
		seen[name] = true
		n.fields = append(n.fields, field{name, drawNode(t, depth-1)})
	}
	return n
}

func drawNode(t *rapid.T, depth int) node {
	kinds := []kind{numeral, text, boolean, null}
	if depth > 0 {
		kinds = append(kinds, list, object)
	}
	switch k := rapid.SampledFrom(kinds).Draw(t, "kind"); k {
	case boolean:
		return node{kind: k, yes: rapid.Bool().Draw(t, "bool")}
	case numeral:
		return node{kind: k, number: drawNumber(t)}
	case text:
		return node{kind: k, text: drawText(t)}
	case list:
		n := node{kind: k}
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			n.list = append(n.list, drawNode(t, depth-1))
		}
		return n
	case object:
		return drawFields(t, depth)
	}
	return node{kind: null}
}

// drawText draws text that jsonb can hold, with what is spelled in several ways among it.
func drawText(t *rapid.T) string {
	letters := rapid.OneOf(
		rapid.SampledFrom([]rune("ab\"\\/\b\f\n\r\t\u007fé\u0301ß\u2028\ufeff😀\U0010ffff\ufffd")),
		rapid.Rune(),
	)
	s := rapid.StringOfN(letters, 0, 6, -1).Draw(t, "text")
	return strings.ReplaceAll(s, "\x00", "0")
}

func drawNumber(t *rapid.T) number {
	digits := rapid.OneOf(
		rapid.SampledFrom([]string{
			"", "1", "9007199254740992", "9007199254740993", "9223372036854775807",
			"17976931348623157", "4940656458412465", "100000000000000000001",
		}),
		rapid.StringMatching(`[1-9][0-9]{0,30}`),
	).Draw(t, "digits")
	n := number{
		negative: rapid.Bool().Draw(t, "negative"),
		digits:   strings.TrimRight(digits, "0"),
		power: rapid.OneOf(
			rapid.Just(0), rapid.IntRange(-40, 40), rapid.IntRange(-400, 400),
		).Draw(t, "power"),
	}
	if n.digits == "" {
		return number{}
	}
	return n
}

// plain spells the value in the shortest way that comes to mind.
func (n node) plain() string { return n.spell(nil) }

// spell writes the value in one of its many spellings; nil draws nothing and writes it plainly.
func (n node) spell(t *rapid.T) string {
	switch n.kind {
	case boolean:
		return strconv.FormatBool(n.yes)
	case numeral:
		return n.number.spell(t)
	case text:
		return spellText(t, n.text)
	case list:
		parts := make([]string, len(n.list))
		for i, element := range n.list {
			parts[i] = space(t) + element.spell(t) + space(t)
		}
		return "[" + space(t) + strings.Join(parts, ",") + "]"
	case object:
		return n.spellFields(t)
	}
	return "null"
}

func (n node) spellFields(t *rapid.T) string {
	fields := n.fields
	if t != nil && len(fields) > 0 {
		fields = rapid.Permutation(fields).Draw(t, "order")
		if rapid.IntRange(0, 3).Draw(t, "overruled") == 0 {
			other := field{fields[0].name, drawNode(t, 1)}
			fields = append([]field{other}, fields...)
		}
	}
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = space(t) + spellText(t, f.name) + space(t) + ":" + space(t) + f.value.spell(t)
	}
	return "{" + strings.Join(parts, ",") + space(t) + "}"
}

func space(t *rapid.T) string {
	if t == nil {
		return ""
	}
	return rapid.SampledFrom([]string{"", "", "", " ", "\n", "\t\r "}).Draw(t, "space")
}

func (n number) spell(t *rapid.T) string {
	sign := ""
	if n.negative {
		sign = "-"
	}
	if t == nil {
		if n.digits == "" {
			return "0"
		}
		return fmt.Sprintf("%s%se%d", sign, n.digits, n.power)
	}
	if n.digits == "" {
		return rapid.SampledFrom([]string{"0", "-0", "0.0", "0e7", "-0.00E-3"}).Draw(t, "zero")
	}
	digits := n.digits + strings.Repeat("0", rapid.IntRange(0, 3).Draw(t, "zeros"))
	point := rapid.IntRange(0, len(digits)).Draw(t, "point")
	power := n.power + len(n.digits) - point
	whole, fraction := digits[:point], digits[point:]
	if whole == "" {
		whole = "0"
	}
	if fraction != "" {
		fraction = "." + fraction
	}
	if power == 0 && rapid.Bool().Draw(t, "no exponent") {
		return sign + whole + fraction
	}
	e := rapid.SampledFrom([]string{"e", "E"}).Draw(t, "e")
	if power >= 0 {
		e += rapid.SampledFrom([]string{"", "+", "+0", "00"}).Draw(t, "plus")
	}
	return sign + whole + fraction + e + strconv.Itoa(power)
}

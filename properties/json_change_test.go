package properties_test

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// spellText writes a JSON string, each rune as itself or as an escape sequence.
func spellText(t *rapid.T, s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		b.WriteString(spellRune(t, r))
	}
	b.WriteByte('"')
	return b.String()
}

func spellRune(t *rapid.T, r rune) string {
	short, hasShort := map[rune]string{
		'"': `\"`, '\\': `\\`, '/': `\/`,
		'\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`,
	}[r]
	ways := []string{string(r)}
	if r < ' ' || r == '"' || r == '\\' {
		ways = nil
	}
	if r > 0xFFFF {
		high, low := utf16.EncodeRune(r)
		ways = append(ways, fmt.Sprintf(`\u%04x\u%04X`, high, low))
	} else {
		ways = append(ways, fmt.Sprintf(`\u%04x`, r), fmt.Sprintf(`\u%04X`, r))
	}
	if hasShort {
		ways = append(ways, short)
	}
	if t == nil {
		return ways[0]
	}
	return rapid.SampledFrom(ways).Draw(t, "rune")
}

// change gives a value that differs from n in one place, by construction.
func (n node) change(t *rapid.T) node {
	switch n.kind {
	case null:
		return node{kind: boolean}
	case boolean:
		return n.changeBoolean(t)
	case numeral:
		return n.changeNumber(t)
	case text:
		return node{kind: text, text: n.text + rapid.SampledFrom([]string{
			" ", "x", "\u0301", "\ufffd", `\u0000`}).Draw(t, "suffix")}
	case list:
		return n.changeList(t)
	}
	return n.changeObject(t)
}

// changeBoolean may take true for 1 and false for 0, as some languages do.
func (n node) changeBoolean(t *rapid.T) node {
	switch {
	case rapid.Bool().Draw(t, "flip"):
		return node{kind: boolean, yes: !n.yes}
	case n.yes:
		return node{kind: numeral, number: number{digits: "1"}}
	}
	return node{kind: numeral}
}

// changeNumber changes the last digit, even where no float64 can tell; the sign; or the type.
func (n node) changeNumber(t *rapid.T) node {
	m := n.number
	how := rapid.SampledFrom([]string{"digit", "digit", "digit", "sign", "text"}).Draw(t, "number")
	switch {
	case how == "text":
		return node{kind: text, text: m.spell(nil)}
	case how == "sign" && m.digits != "":
		m.negative = !m.negative
	default:
		last := strings.TrimLeft(m.digits[max(0, len(m.digits)-1):], "0")
		next := map[string]string{"": "1", "9": "91"}[last]
		if next == "" {
			next = string(last[0] + 1)
		}
		m.digits = m.digits[:max(0, len(m.digits)-1)] + next
	}
	return node{kind: numeral, number: m}
}

func (n node) changeList(t *rapid.T) node {
	n.list = slices.Clone(n.list)
	at := rapid.IntRange(0, len(n.list)).Draw(t, "element")
	if at == len(n.list) {
		n.list = append(n.list, node{kind: null})
		return n
	}
	if rapid.Bool().Draw(t, "remove") {
		n.list = slices.Delete(n.list, at, at+1)
		return n
	}
	n.list[at] = n.list[at].change(t)
	return n
}

func (n node) changeObject(t *rapid.T) node {
	n.fields = slices.Clone(n.fields)
	at := rapid.IntRange(0, len(n.fields)).Draw(t, "field")
	if at == len(n.fields) {
		name := "new"
		for _, f := range n.fields {
			name += f.name // longer than each, so equal to none
		}
		n.fields = append(n.fields, field{name, node{kind: null}})
		return n
	}
	ways := []string{"value", "value", "value", "remove", "name"}
	switch rapid.SampledFrom(ways).Draw(t, "how") {
	case "remove":
		n.fields = slices.Delete(n.fields, at, at+1)
	case "name":
		n.fields[at].name = "other"
		for _, f := range n.fields {
			n.fields[at].name += f.name
		}
	default:
		n.fields[at].value = n.fields[at].value.change(t)
	}
	return n
}

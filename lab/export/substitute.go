package export

import (
	"slices"
	"strconv"
	"strings"

	"webhooklab/toxiproxy"
)

// substitute puts arguments into the places of $1, $2, … and leaves away what stands behind the
// last word of the statement. Strings, identifiers and comments stay what they are; tabs between
// words become blanks, for a terminal completes at a tab.
func substitute(sql string, values []argument) string {
	var b strings.Builder
	pieces := ended(toxiproxy.Lexemes(sql))
	for i, x := range pieces {
		n, _ := strconv.Atoi(strings.TrimPrefix(x.Text, "$"))
		switch {
		case x.Kind == toxiproxy.Parameter && n >= 1 && n <= len(values):
			b.WriteString(values[n-1].between(pieces[:i], pieces[i+1:]))
		case x.Kind == toxiproxy.Blank:
			b.WriteString(strings.ReplaceAll(x.Text, "\t", "  "))
		default:
			b.WriteString(x.Text)
		}
	}
	return b.String()
}

// ended leaves away blanks, comments and semicolons at both ends.
func ended(pieces []toxiproxy.Lexeme) []toxiproxy.Lexeme {
	empty := func(x toxiproxy.Lexeme) bool {
		return x.Kind == toxiproxy.Blank || x.Text == ";"
	}
	for len(pieces) > 0 && empty(pieces[len(pieces)-1]) {
		pieces = pieces[:len(pieces)-1]
	}
	for len(pieces) > 0 && empty(pieces[0]) {
		pieces = pieces[1:]
	}
	return pieces
}

// between is the argument with its type. Where its neighbours could be read as parts of it, it
// stands in parentheses; where the statement casts it to this very type, once is enough.
func (a argument) between(before, after []toxiproxy.Lexeme) string {
	before = slices.Clone(before)
	slices.Reverse(before)
	text := a.literal
	if !casts(after, a.kind) {
		text += "::" + a.kind
	}
	if apart(before, "(,") && apart(after, "),;:") {
		return text
	}
	return "(" + text + ")"
}

// casts tells whether these pieces begin with a cast to this type.
func casts(after []toxiproxy.Lexeme, kind string) bool {
	return len(after) > 2 && after[0].Text == ":" && after[1].Text == ":" &&
		after[2].Text == kind && !(len(after) > 3 && strings.Contains("([", after[3].Text))
}

// apart: the nearest of these pieces can't be taken for a part of a literal or of a cast. A bracket
// can, also behind white space.
func apart(pieces []toxiproxy.Lexeme, marks string) bool {
	blank := false
	for _, x := range pieces {
		switch x.Kind {
		case toxiproxy.Blank:
			blank = true
		case toxiproxy.Mark:
			return blank && x.Text != "[" || strings.Contains(marks, x.Text)
		default:
			return blank
		}
	}
	return true
}

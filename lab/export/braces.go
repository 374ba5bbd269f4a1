package export

import (
	"fmt"
	"strings"

	"webhooklab/toxiproxy"
)

// withoutBraces is the same SQL without a closing brace: in the isolation tester's language that
// ends the step, also inside of a literal. JSON is full of them.
func withoutBraces(sql string) (string, error) {
	if !strings.Contains(sql, "}") {
		return sql, nil
	}
	var b strings.Builder
	for _, x := range toxiproxy.Lexemes(sql) {
		if !strings.Contains(x.Text, "}") {
			b.WriteString(x.Text)
			continue
		}
		text, err := unbraced(x)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

func isBrace(r rune) bool { return r == '}' }

func unbraced(x toxiproxy.Lexeme) (string, error) {
	t := x.Text
	switch {
	case x.Kind == toxiproxy.Blank:
		return strings.ReplaceAll(t, "}", ")"), nil // of a comment
	case x.Kind == toxiproxy.Identifier && t[0] == '"':
		return `U&` + strings.NewReplacer(`\`, `\\`, `}`, `\007D`).Replace(t), nil
	case x.Kind == toxiproxy.Literal && t[0] == '$':
		tag := t[:strings.IndexByte(t[1:], '$')+2]
		return escaped(strings.TrimSuffix(strings.TrimPrefix(t, tag), tag), isBrace), nil
	case x.Kind == toxiproxy.Literal && (t[0] == 'E' || t[0] == 'e'):
		return escapedBraces(t), nil
	case x.Kind == toxiproxy.Literal && t[0] == '\'':
		return "E" + strings.NewReplacer(`\`, `\\`, `}`, `\x7D`).Replace(t), nil
	}
	return "", fmt.Errorf("a closing brace in %q, where the isolation tester's language knows no "+
		"other spelling", t)
}

// escapedBraces: a backslash before a brace adds nothing to it, one before a backslash does.
func escapedBraces(literal string) string {
	var b strings.Builder
	for i := 0; i < len(literal); i++ {
		next := byte(0)
		if i+1 < len(literal) {
			next = literal[i+1]
		}
		switch c := literal[i]; {
		case c == '\\' && next == '}':
			b.WriteString(`\x7D`)
			i++
		case c == '\\':
			b.WriteByte(c)
			b.WriteByte(next)
			i++
		case c == '}':
			b.WriteString(`\x7D`)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

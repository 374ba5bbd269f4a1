package toxiproxy

import (
	"fmt"
	"slices"
	"strings"
)

// Label is a short name for the command that does not vary with its values: the keyword in upper
// case and the first relation that it is aimed at, without schema.
//
// "INSERT webhook_inbox", "SELECT" (no FROM), "COMMIT", "COPY x"; several statements give
// "BATCH INSERT a, INSERT b"; a cycle that executes nothing gives "SYNC". Comments are skipped, of
// a CTE the main verb counts, and SET beside another statement is left out.
func (c Command) Label() string {
	if c.name != nil {
		return c.name.label
	}
	var labels []string
	for _, s := range c.Statements {
		labels = append(labels, label(s.SQL))
	}
	if quiet := slices.DeleteFunc(slices.Clone(labels), isSet); len(quiet) > 0 {
		labels = quiet
	}
	switch len(labels) {
	case 0:
		return "SYNC"
	case 1:
		return labels[0]
	}
	return "BATCH " + strings.Join(runs(labels), ", ")
}

func isSet(label string) bool { return label == "SET" }

// runs writes neighbours that are equal once, with their number.
func runs(labels []string) []string {
	var out []string
	for i := 0; i < len(labels); {
		n := 1
		for i+n < len(labels) && labels[i+n] == labels[i] {
			n++
		}
		if n > 1 {
			out = append(out, fmt.Sprintf("%s ×%d", labels[i], n))
		} else {
			out = append(out, labels[i])
		}
		i += n
	}
	return out
}

// label names one statement. "EMPTY" is a statement without a word.
func label(sql string) string {
	l := newLexer(sql)
	verb := l.word()
	for verb == "" && strings.HasPrefix(strings.TrimSpace(sql), "(") && l.at < len(sql) {
		verb = l.word() // a parenthesised SELECT
	}
	if verb == "WITH" {
		verb = l.mainVerb()
	}
	switch verb {
	case "":
		return "EMPTY"
	case "INSERT", "MERGE", "UPDATE", "DELETE", "COPY", "CALL", "TRUNCATE", "LOCK":
		return join(verb, l.relation("INTO", "FROM", "ONLY", "TABLE", "BINARY"))
	case "SELECT":
		return join(verb, l.from())
	case "TABLE":
		return join("SELECT", l.relation("ONLY"))
	case "CREATE", "ALTER", "DROP":
		return l.definition(verb)
	}
	return transaction(verb, l)
}

// transaction gives the synonyms of transaction commands one name each.
func transaction(verb string, l *lexer) string {
	second := l.word()
	switch verb {
	case "START":
		return "BEGIN"
	case "END":
		verb = "COMMIT"
	case "ABORT":
		verb = "ROLLBACK"
	}
	for second == "WORK" || second == "TRANSACTION" && verb != "PREPARE" {
		second = l.word()
	}
	switch {
	case verb == "ROLLBACK" && second == "TO",
		(verb == "COMMIT" || verb == "ROLLBACK") && second == "PREPARED",
		verb == "PREPARE" && second == "TRANSACTION",
		verb == "SET" && second == "CONSTRAINTS":
		return verb + " " + second
	}
	return verb
}

func join(verb, relation string) string {
	if relation == "" {
		return verb
	}
	return verb + " " + relation
}

// relation reads a qualified name after any of the noise words and gives its last part, folded
// as PostgreSQL folds it. "" when something else stands there.
func (l *lexer) relation(noise ...string) string {
	name, more := "", true
	for more {
		t, ok := l.next()
		switch {
		case !ok:
			return name
		case t.kind == 'q':
			name = t.text
		case t.kind != 'w':
			return name
		case name == "" && slices.ContainsFunc(noise, t.is):
			continue
		default:
			name = strings.ToLower(t.text)
		}
		if l.blank(); l.peek() != '.' {
			more = false
		} else {
			l.at++
		}
	}
	return name
}

// from finds the first relation of a SELECT: that of its outermost FROM, or when a sub-select
// stands there, of the FROM inside.
func (l *lexer) from() string {
	depth, wanted := 0, 0
	var last token
	for {
		t, ok := l.next()
		if !ok {
			return ""
		}
		switch {
		case t.kind == '(':
			depth++
		case t.kind == ')':
			depth--
		case t.is("FROM") && depth <= wanted && !last.is("DISTINCT"):
			if l.blank(); l.peek() != '(' {
				return l.relation("ONLY", "LATERAL", "ROWS")
			}
			wanted = depth + 1
		}
		last = t
	}
}

// mainVerb skips the queries of a WITH clause.
func (l *lexer) mainVerb() string {
	depth := 0
	for {
		t, ok := l.next()
		if !ok {
			return "WITH"
		}
		switch {
		case t.kind == '(':
			depth++
		case t.kind == ')':
			depth--
		case depth == 0 && slices.ContainsFunc(mainVerbs(), t.is):
			return strings.ToUpper(t.text)
		}
	}
}

func mainVerbs() []string {
	return []string{"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "VALUES", "TABLE"}
}

// definition names DDL by verb, kind of object and name: "CREATE TABLE x".
func (l *lexer) definition(verb string) string {
	kind := l.word()
	for slices.Contains(adjectives(), kind) {
		kind = l.word()
	}
	if kind == "" {
		return verb
	}
	name := l.relation("IF", "NOT", "EXISTS", "CONCURRENTLY", "ONLY", "VIEW")
	return join(verb+" "+kind, name)
}

func adjectives() []string {
	return []string{"OR", "REPLACE", "TEMP", "TEMPORARY", "UNLOGGED", "UNIQUE", "GLOBAL", "LOCAL",
		"RECURSIVE"}
}

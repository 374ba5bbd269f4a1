package toxiproxy

import (
	"strings"
	"unicode/utf8"
)

// token is one lexeme of SQL. Kinds: 'w' a bare word, 'q' a quoted identifier, 'v' a literal,
// number or parameter; any other kind is that punctuation character itself.
type token struct {
	kind  byte
	text  string
	start int // offset in the SQL
}

// is compares a bare word with an upper-case keyword.
func (t token) is(keyword string) bool {
	return t.kind == 'w' && strings.EqualFold(t.text, keyword)
}

// lexer cuts SQL into tokens as PostgreSQL's scanner does with standard_conforming_strings on.
// It skips comments. It never fails: what is not closed reaches to the end.
type lexer struct {
	sql string
	at  int
}

func newLexer(sql string) *lexer { return &lexer{sql: sql} }

// word is the next token as an upper-case keyword, "" when it is something else or the end.
func (l *lexer) word() string {
	t, ok := l.next()
	if !ok || t.kind != 'w' {
		return ""
	}
	return strings.ToUpper(t.text)
}

func (l *lexer) next() (token, bool) {
	l.blank()
	if l.at >= len(l.sql) {
		return token{}, false
	}
	start := l.at
	switch c := l.sql[l.at]; {
	case c == '\'':
		l.quoted('\'', false)
		return token{'v', l.sql[start:l.at], start}, true
	case c == '"':
		l.quoted('"', false)
		return token{'q', unquote(l.sql[start:l.at]), start}, true
	case c == '$':
		l.dollar()
		return token{'v', l.sql[start:l.at], start}, true
	case isDigit(c):
		l.while(isWordPart)
		return token{'v', l.sql[start:l.at], start}, true
	case isWordStart(c):
		return l.bare(), true
	default:
		l.at++
		return token{c, l.sql[start:l.at], start}, true
	}
}

// bare reads a word, or the literal that a one-letter prefix opens: E'…', B'…', X'…', N'…'.
func (l *lexer) bare() token {
	start := l.at
	l.while(isWordPart)
	text := l.sql[start:l.at]
	if l.peek() == '\'' && len(text) == 1 && strings.ContainsAny(text, "eEbBxXnN") {
		l.quoted('\'', text == "e" || text == "E")
		return token{'v', l.sql[start:l.at], start}
	}
	return token{'w', text, start}
}

// blank skips white space and comments; a block comment may hold others.
func (l *lexer) blank() {
	for l.at < len(l.sql) {
		rest := l.sql[l.at:]
		switch {
		case strings.IndexByte(" \t\r\n\f\v", rest[0]) >= 0:
			l.at++
		case strings.HasPrefix(rest, "--"):
			end := strings.IndexAny(rest, "\r\n")
			if end < 0 {
				end = len(rest)
			}
			l.at += end
		case strings.HasPrefix(rest, "/*"):
			l.block()
		default:
			return
		}
	}
}

func (l *lexer) block() {
	depth := 0
	for l.at < len(l.sql) {
		rest := l.sql[l.at:]
		switch {
		case strings.HasPrefix(rest, "/*"):
			depth++
			l.at += 2
		case strings.HasPrefix(rest, "*/"):
			depth--
			l.at += 2
			if depth == 0 {
				return
			}
		default:
			l.at++
		}
	}
}

func (l *lexer) quoted(quote byte, backslash bool) {
	for l.at++; l.at < len(l.sql); l.at++ {
		switch c := l.sql[l.at]; {
		case backslash && c == '\\':
			l.at++
		case c == quote:
			l.at++
			if l.peek() != quote && !l.continued(quote) {
				return
			}
		}
	}
	l.at = min(l.at, len(l.sql))
}

// continued goes to the opening quote of the next part of a literal, if this part is not the last:
// parts are joined when only white space and line comments with a line break lie between them.
func (l *lexer) continued(quote byte) bool {
	if quote != '\'' {
		return false
	}
	rest := l.sql[l.at:]
	for at, broken := 0, false; at < len(rest); {
		switch c := rest[at]; {
		case c == '\n' || c == '\r':
			broken = true
			at++
		case c == ' ' || c == '\t' || c == '\f' || c == '\v':
			at++
		case strings.HasPrefix(rest[at:], "--"):
			end := strings.IndexAny(rest[at:], "\r\n")
			if end < 0 {
				return false
			}
			at += end
		case c == quote && broken:
			l.at += at
			return true
		default:
			return false
		}
	}
	return false
}

// dollar reads a parameter ($1) or a dollar-quoted literal ($tag$…$tag$).
func (l *lexer) dollar() {
	start := l.at
	l.at++
	l.while(func(c byte) bool { return isWordPart(c) && c != '$' })
	if l.peek() != '$' || (l.at > start+1 && isDigit(l.sql[start+1])) {
		return
	}
	l.at++
	tag := l.sql[start:l.at]
	end := strings.Index(l.sql[l.at:], tag)
	if end < 0 {
		l.at = len(l.sql)
		return
	}
	l.at += end + len(tag)
}

func (l *lexer) while(part func(byte) bool) {
	for l.at < len(l.sql) && part(l.sql[l.at]) {
		l.at++
	}
}

func (l *lexer) peek() byte {
	if l.at < len(l.sql) {
		return l.sql[l.at]
	}
	return 0
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWordStart(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= utf8.RuneSelf
}

func isWordPart(c byte) bool { return isWordStart(c) || isDigit(c) || c == '$' }

func unquote(s string) string {
	s = strings.TrimSuffix(strings.TrimPrefix(s, `"`), `"`)
	return strings.ReplaceAll(s, `""`, `"`)
}

// split cuts the text of a simple Query at the semicolons between its statements. Statements
// without a token (blanks, comments) are left out.
func split(sql string) []string {
	var parts []string
	l, start, depth, empty := newLexer(sql), 0, 0, true
	add := func(end int) {
		if !empty {
			parts = append(parts, strings.TrimSpace(sql[start:end]))
		}
		empty = true
	}
	for {
		t, ok := l.next()
		if !ok {
			break
		}
		switch t.kind {
		case '(':
			depth++
		case ')':
			depth--
		}
		if t.kind == ';' && depth <= 0 {
			add(t.start)
			start, depth = l.at, 0
			continue
		}
		empty = false
	}
	add(len(sql))
	return parts
}

package toxiproxy

// A LexemeKind says what a piece of SQL is.
type LexemeKind int

const (
	Blank      LexemeKind = iota // white space and comments
	Word                         // a keyword or a bare identifier
	Identifier                   // a quoted identifier
	Literal                      // a string, in whichever quotes, or a number
	Parameter                    // $1
	Mark                         // one character of anything else
)

// A Lexeme is one piece of SQL, as it is written.
type Lexeme struct {
	Kind LexemeKind
	Text string
}

// Lexemes cuts SQL into its pieces; put together again they are the SQL, byte by byte. A prefix of
// a literal or a quoted identifier (E, B, X, N, U&) belongs to it.
func Lexemes(sql string) []Lexeme {
	var all []Lexeme
	add := func(kind LexemeKind, text string) {
		if text != "" {
			all = append(all, Lexeme{kind, text})
		}
	}
	l, end := newLexer(sql), 0
	for {
		t, ok := l.next()
		if !ok {
			break
		}
		add(Blank, sql[end:t.start])
		if t.unicodePrefix(sql) {
			l.at = t.start + len("U&")
			t, _ = l.next()
			t.start -= len("U&")
		}
		add(t.lexemeKind(), sql[t.start:l.at])
		end = l.at
	}
	add(Blank, sql[end:])
	return all
}

// unicodePrefix tells whether this word opens U&'…' or U&"…".
func (t token) unicodePrefix(sql string) bool {
	rest := sql[t.start:]
	return t.is("U") && len(rest) > 2 && rest[1] == '&' && (rest[2] == '\'' || rest[2] == '"')
}

func (t token) lexemeKind() LexemeKind {
	switch t.kind {
	case 'w':
		return Word
	case 'q':
		return Identifier
	case 'v':
		if len(t.text) > 1 && t.text[0] == '$' && isDigit(t.text[1]) {
			return Parameter
		}
		return Literal
	}
	return Mark
}

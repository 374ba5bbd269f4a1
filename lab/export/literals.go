package export

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"webhooklab/lab"
	"webhooklab/toxiproxy"
)

// literals writes the arguments of statements into their SQL. The server itself says what types
// they have and how they are spelled, so that no type is unknown.
type literals struct {
	conn  *pgx.Conn
	trace *lab.Trace
}

// spoken is what of a command belongs into a script: not what only serves a driver, and no bound of
// waiting, which a person who types would run into.
func (x literals) spoken(ctx context.Context, c lab.TracedCommand) (sql []string, err error) {
	for _, st := range c.Statements {
		words := leadingWords(st.SQL)
		switch {
		case len(words) == 0, c.Local && unspoken(words):
			continue
		case words[0] == "COPY":
			return nil, noScript("%s copies data, which a line of SQL doesn't hold", c.Session)
		}
		text, err := x.inline(ctx, st)
		if err != nil {
			return nil, err
		}
		sql = append(sql, text)
	}
	return sql, nil
}

func unspoken(words []string) bool {
	switch words[0] {
	case "DEALLOCATE", "DISCARD", "SHOW":
		return true
	case "SET":
		return slices.ContainsFunc(words, func(w string) bool {
			return strings.HasSuffix(w, "_TIMEOUT") && w != "DEADLOCK_TIMEOUT"
		})
	}
	return false
}

// leadingWords are the first bare words of a statement, in capitals.
func leadingWords(sql string) (words []string) {
	for _, x := range toxiproxy.Lexemes(sql) {
		switch x.Kind {
		case toxiproxy.Word:
			words = append(words, strings.ToUpper(x.Text))
		case toxiproxy.Mark:
			if x.Text != ";" {
				return words
			}
		case toxiproxy.Literal, toxiproxy.Parameter:
			return words
		}
	}
	return words
}

// own is a statement of the scenario's own.
func (x literals) own(ctx context.Context, own lab.TracedSQL) (string, error) {
	st := toxiproxy.Statement{SQL: own.SQL}
	if len(own.Args) > 0 {
		sd, err := x.conn.Prepare(ctx, "", own.SQL)
		if err != nil {
			return "", fmt.Errorf("prepare the scenario's own SQL: %w", err)
		}
		for i, a := range own.Args {
			text, err := x.conn.TypeMap().Encode(sd.ParamOIDs[i], pgx.TextFormatCode, a, nil)
			if err != nil {
				return "", fmt.Errorf("encode an argument of the scenario's own SQL: %w", err)
			}
			st.Args, st.Formats = append(st.Args, text), append(st.Formats, pgx.TextFormatCode)
		}
	}
	return x.inline(ctx, st)
}

// inline is the statement with its arguments in their places.
func (x literals) inline(ctx context.Context, st toxiproxy.Statement) (string, error) {
	if len(st.Args) == 0 {
		return x.trace.Plain(substitute(st.SQL, nil)), nil
	}
	sd, err := x.conn.Prepare(ctx, "", st.SQL)
	if err != nil {
		return "", fmt.Errorf("prepare %q to know its arguments: %w", st.SQL, err)
	}
	values := make([]argument, len(st.Args))
	for i, arg := range st.Args {
		if values[i], err = x.argument(ctx, arg, st.Formats[i], sd.ParamOIDs[i]); err != nil {
			return "", fmt.Errorf("argument %d of %q: %w", i+1, st.SQL, err)
		}
	}
	return x.trace.Plain(substitute(st.SQL, values)), nil
}

// An argument is a literal and the name of its type.
type argument struct{ literal, kind string }

// argument writes one argument. Its text is what was sent; of one that was sent in binary, the
// server tells the text.
func (x literals) argument(
	ctx context.Context, arg []byte, format int16, oid uint32,
) (argument, error) {
	a := argument{literal: "NULL"}
	err := x.conn.QueryRow(ctx, `SELECT format_type($1, -1)`, oid).Scan(&a.kind)
	if err != nil || arg == nil {
		return a, err
	}
	text := string(arg)
	if format == pgx.BinaryFormatCode {
		r := x.conn.PgConn().ExecParams(ctx, `SELECT format('%s', $1)`,
			[][]byte{arg}, []uint32{oid}, []int16{format}, nil).Read()
		if pg := (*pgconn.PgError)(nil); errors.As(r.Err, &pg) {
			return a, noScript("the server does not take it: %s", pg.Message)
		}
		if r.Err != nil {
			return a, r.Err
		}
		text = string(r.Rows[0][0])
	}
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return a, noScript("it is no text that SQL could hold")
	}
	a.literal = asLiteral(x.trace.Plain(text))
	return a, nil
}

// asLiteral is a text as a literal that a terminal takes as it stands: what does not print is
// escaped.
func asLiteral(text string) string {
	strange := func(r rune) bool { return unprintable(r) && r != '\n' }
	if strings.IndexFunc(text, strange) < 0 {
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	return escaped(text, strange)
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// escaped is a text as an escape string in which the strange characters stand as their numbers.
func escaped(text string, strange func(rune) bool) string {
	var b strings.Builder
	b.WriteString("E'")
	for _, r := range text {
		switch {
		case r == '\'':
			b.WriteString("''")
		case r == '\\':
			b.WriteString(`\\`)
		case !strange(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02X`, r)
		case r <= 0xFFFF:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	b.WriteByte('\'')
	return b.String()
}

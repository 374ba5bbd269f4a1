package report

import (
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"webhooklab/lab"
	"webhooklab/toxiproxy"
)

// statements numbers each SQL text of a page once, so that thousands of commands can point to it.
type statements struct {
	texts   []string
	numbers map[string]int
}

// number is that of the command's SQL, from 1; 0 if it executes nothing.
func (s *statements) number(trace *lab.Trace, c lab.TracedCommand) int {
	var texts []string
	for _, part := range c.Statements {
		texts = append(texts, trace.Plain(part.SQL))
	}
	sql := strings.Join(texts, ";\n")
	if sql == "" {
		return 0
	}
	if s.numbers == nil {
		s.numbers = map[string]int{}
	}
	if s.numbers[sql] == 0 {
		s.texts = append(s.texts, sql)
		s.numbers[sql] = len(s.texts)
	}
	return s.numbers[sql]
}

// arguments are those of a command as they crossed the wire: text as text, binary as hexadecimal,
// for the wire doesn't know its type.
func arguments(trace *lab.Trace, c lab.TracedCommand) string {
	var all []string
	for _, s := range c.Statements {
		for i := range s.Args {
			all = append(all, argument(trace, s, i))
		}
	}
	return strings.Join(all, ", ")
}

func argument(trace *lab.Trace, s toxiproxy.Statement, i int) string {
	arg := s.Args[i]
	switch {
	case arg == nil:
		return "NULL"
	case i < len(s.Formats) && s.Formats[i] == 1:
		return `\x` + brief(hex.EncodeToString(arg), 40)
	case !utf8.Valid(arg):
		return brief(fmt.Sprintf("%q", arg), 60)
	}
	return brief(trace.Plain(string(arg)), 60)
}

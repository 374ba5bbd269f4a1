package export

import (
	"fmt"
	"slices"
	"strings"
)

// Psql is the script for people: numbered lines to paste into one psql for each terminal, each with
// what it must return. schema is the file that makes the tables.
func (s *Script) Psql(schema string) string {
	b := &strings.Builder{}
	s.introduce(b, "-- ")
	fmt.Fprintf(b, `--
-- Open a terminal for each of these names, and psql in it: %s.
-- Paste the numbered lines into the terminal that each of them names, one after the other, and
-- compare what comes back with what stands behind "=>". A line that waits returns later: the line
-- that ends its wait says so.%s
--
-- The tables: an empty database with %s. For example:
--   createdb by_hand
--   psql -X -d by_hand -f %s
-- and in each terminal:
--   psql -X -d by_hand
`, s.terminalNames(), s.ownHand(), schema, schema)
	for i, l := range s.lines {
		b.WriteByte('\n')
		for _, told := range l.told {
			comment(b, "-- ", told)
		}
		s.psqlLine(b, i, l)
		s.psqlWoken(b, i)
		for _, answer := range l.answers {
			comment(b, "-- ", answer)
		}
	}
	for i, l := range s.lines {
		if l.until == len(s.lines) {
			comment(b, "-- ", fmt.Sprintf("line %d, in %s, has not returned yet", i+1, l.terminal.name))
		}
	}
	return b.String()
}

// introduce says in words what is shown.
func (s *Script) introduce(b *strings.Builder, mark string) {
	comment(b, mark, s.Name)
	comment(b, mark, "")
	comment(b, mark, "The law: "+s.Law+".")
	if len(s.Broken) == 0 {
		comment(b, mark, "The receiver whose commands these are keeps it.")
		return
	}
	comment(b, mark, "The receiver whose commands these are does not keep it:")
	for _, text := range s.Broken {
		comment(b, mark, "  "+text)
	}
}

// comment writes a text as comment lines.
func comment(b *strings.Builder, mark, text string) {
	for _, line := range strings.Split(text, "\n") {
		b.WriteString(strings.TrimRight(mark+printable(line), " ") + "\n")
	}
}

// printable leaves no character in a text that a terminal would obey.
func printable(text string) string {
	text = escaped(text, func(r rune) bool { return unprintable(r) && r != '\t' })
	text = strings.TrimSuffix(strings.TrimPrefix(text, "E'"), "'")
	return strings.NewReplacer("''", "'", `\\`, `\`).Replace(text)
}

func (s *Script) terminalNames() string {
	var names []string
	for _, t := range s.terminals {
		names = append(names, t.name)
	}
	return strings.Join(names, ", ")
}

// ownHand explains the terminal that is no session's.
func (s *Script) ownHand() string {
	for _, t := range s.terminals {
		if t.session == "" {
			return " What stands under " + t.name + " is done to the\n-- tables from outside, to show " +
				"what comes of it."
		}
	}
	return ""
}

func (s *Script) psqlLine(b *strings.Builder, i int, l *line) {
	switch {
	case l.terminal == nil:
		fmt.Fprintf(b, "-- %d here %s\n", i+1, l.words)
		return
	case l.quits:
		fmt.Fprintf(b, "-- %d %s, here %s\n\\q\n", i+1, l.terminal.name, l.words)
		return
	}
	fmt.Fprintf(b, "-- %d %s%s\n", i+1, l.terminal.name, l.waiting())
	if s.firstOf(l) {
		for _, p := range l.terminal.settings {
			fmt.Fprintf(b, "SET %s = %s;\n-- => SET\n", p.Name, asLiteral(p.Value))
		}
	}
	fmt.Fprintf(b, "%s;\n", strings.Join(l.sql, "\\;\n"))
	switch {
	case l.until > i:
		comment(b, "-- ", "=> nothing yet")
	case !l.lost:
		l.tell(b)
	}
}

// waiting is what the heading says of a line that waits.
func (l *line) waiting() string {
	text := ""
	for n, w := range l.waits {
		text += fmt.Sprintf(", %s %s (%s)", []string{"waits for", "then for"}[min(n, 1)],
			strings.Join(w.For, ", "), w.Wait)
	}
	return text
}

func (s *Script) firstOf(l *line) bool {
	return s.lines[slices.IndexFunc(s.lines, func(o *line) bool {
		return o.terminal == l.terminal
	})] == l
}

// psqlWoken tells of the lines that the i-th brings to their end.
func (s *Script) psqlWoken(b *strings.Builder, i int) {
	for n, l := range s.lines[:i] {
		if l.until == i && !l.lost {
			comment(b, "-- ", fmt.Sprintf("and now line %d returns, in %s:", n+1, l.terminal.name))
			l.tell(b)
		}
	}
}

// shownRows is how many rows a script spells out.
const shownRows = 10

// tell writes what a line returned.
func (l *line) tell(b *strings.Builder) {
	for _, r := range l.results {
		for n, row := range r.rows {
			if n == shownRows {
				comment(b, "-- => ", fmt.Sprintf("… and %d more", len(r.rows)-n))
				break
			}
			var cells []string
			for k, value := range row {
				cells = append(cells, r.columns[k]+": "+r.shown(n, k, value))
			}
			comment(b, "-- => ", strings.Join(cells, ", "))
		}
		comment(b, "-- => ", r.tag)
	}
	if l.failure != nil {
		comment(b, "-- => ", l.failure.message+" ("+l.failure.state+")")
	}
}

func (r result) shown(row, column int, value *string) string {
	switch {
	case r.varies != nil && r.varies[row][column]:
		return "… (it varies)"
	case value == nil:
		return "null"
	}
	if text := []rune(*value); len(text) > 80 {
		return string(text[:80]) + "…"
	}
	return *value
}

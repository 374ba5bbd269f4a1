package export

import (
	"fmt"
	"slices"
	"strings"
)

// A step is one step of the isolation tester's permutation.
type step struct {
	name     string
	terminal *terminal
	sql      string
	line     int // whose end the step's end is
}

// IsolationSpec is the script for PostgreSQL's own isolation tester: the specification, and what
// the tester prints, to the letter. Where the tester can't play the run, err says why.
func (s *Script) IsolationSpec(schema string) (spec, expected string, err error) {
	if s.unfit != "" {
		return "", "", noScript("%s", s.unfit)
	}
	if err := s.constant(); err != nil {
		return "", "", err
	}
	steps, err := s.steps()
	if err != nil {
		return "", "", err
	}
	b := &strings.Builder{}
	s.introduce(b, "# ")
	fmt.Fprintf(b, `#
# For PostgreSQL's isolationtester. The tables: an empty database with
# %s, and an owner who may set session_replication_role. For example:
#   createdb by_tester
#   psql -X -d by_tester -f %s
#   isolationtester dbname=by_tester < %s.spec | diff - %s.out
# Here a closing brace ends a step, so that of a text is written \x7D.

`, schema, schema, s.fileName(), s.fileName())
	s.surround(b)
	for _, t := range s.terminals {
		t.specify(b, s, steps)
	}
	b.WriteString("permutation\n")
	for _, st := range steps {
		fmt.Fprintf(b, "\t%s\n", st.name+s.marker(st, steps))
	}
	return b.String(), s.expect(steps), nil
}

// constant is nil if two rehearsals have seen the same values everywhere.
func (s *Script) constant() error {
	for i, l := range s.lines {
		for _, r := range l.results {
			if r.varies != nil {
				return noScript("line %d returns %v, of which something differs each time", i+1,
					r.columns)
			}
		}
	}
	return nil
}

// surround writes what is done before and after: rows that are not the script's own are neither
// mixed with its own nor removed.
func (s *Script) surround(b *strings.Builder) {
	if len(s.touched) == 0 {
		return
	}
	var there []string
	for _, t := range s.touched {
		there = append(there, "EXISTS (SELECT FROM "+t+")")
	}
	fmt.Fprintf(b, `setup
{
  DO $$
  BEGIN
    IF %s THEN
      RAISE EXCEPTION 'this needs a database of its own: there are rows already';
    END IF;
  END $$;
}

teardown
{
  SET session_replication_role = replica; -- no trigger refuses
  TRUNCATE %s
    RESTART IDENTITY;
  RESET session_replication_role;
}

`, strings.Join(there, "\n    OR "), strings.Join(s.touched, ", "))
}

func (t *terminal) specify(b *strings.Builder, s *Script, steps []step) {
	fmt.Fprintf(b, "session %s\n", t.name)
	if len(t.settings) > 0 {
		b.WriteString("setup\n{\n")
		for _, p := range t.settings {
			fmt.Fprintf(b, "  SET %s = %s;\n", p.Name, asLiteral(p.Value))
		}
		b.WriteString("}\n")
	}
	written := map[string]bool{}
	for _, st := range steps {
		if s.lines[st.line].terminal == t && !written[st.name] {
			fmt.Fprintf(b, "step %s { %s; }\n", st.name, st.sql)
			written[st.name] = true
		}
	}
	if t.open && !t.cut {
		b.WriteString("teardown { ROLLBACK; }\n")
	}
	b.WriteByte('\n')
}

// steps are the lines that the tester plays. A connection that ends outside of a transaction holds
// nothing, so its end is left out.
func (s *Script) steps() (steps []step, err error) {
	for i, l := range s.lines {
		sql, label := strings.Join(l.sql, ";\n"), l.label
		switch {
		case l.quits && !l.inside:
			continue
		case l.quits:
			sql, label = hangUpSQL, "is cut off"
		}
		if sql, err = withoutBraces(sql); err != nil {
			return nil, noScript("line %d holds %w", i+1, err)
		}
		st := step{terminal: l.terminal, sql: sql, line: i}
		st.name = st.named(identifier(l.terminal.name+"_"+label), steps)
		steps = append(steps, st)
	}
	return steps, nil
}

// hangUpSQL ends the connection from inside, in the way it ends when its client is gone: rolled
// back, locks released.
const hangUpSQL = "SELECT pg_terminate_backend(pg_backend_pid())"

// named is the step's name: that of the same step before, or one that no other has.
func (st step) named(stem string, before []step) string {
	for n, name := 2, stem; ; n++ {
		i := slices.IndexFunc(before, func(other step) bool { return other.name == name })
		if i < 0 || before[i].sql == st.sql && before[i].terminal == st.terminal {
			return name
		}
		name = fmt.Sprintf("%s_%d", stem, n)
	}
}

// marker says how the tester reports a step whose end it could see in more than one way. One that
// closes a circle of waits is shown as waiting at once: whether it would be seen to wait is chance,
// for PostgreSQL ends the circle soon. The others of the circle are shown after its victim.
func (s *Script) marker(st step, steps []step) string {
	var marks []string
	if s.victim(st.line) >= 0 {
		marks = append(marks, "*")
	}
	victim := s.victim(s.lines[st.line].until)
	for _, other := range steps {
		if other.line == victim && victim != st.line {
			marks = append(marks, other.name)
		}
	}
	if len(marks) == 0 {
		return ""
	}
	return "(" + strings.Join(marks, ", ") + ")"
}

// victim is the line that PostgreSQL ends because the i-th has closed a circle of waits, -1 if
// there is none.
func (s *Script) victim(i int) int {
	return slices.IndexFunc(s.lines, func(l *line) bool {
		return l.until == i && l.failure != nil && l.failure.state == deadlock
	})
}

// expect is what the tester prints.
func (s *Script) expect(steps []step) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "Parsed test spec with %d sessions\n\nstarting permutation:", len(s.terminals))
	byLine := map[int]step{}
	for _, st := range steps {
		fmt.Fprintf(b, " %s", st.name)
		byLine[st.line] = st
	}
	b.WriteByte('\n')
	for _, st := range steps {
		l := s.lines[st.line]
		waits := l.until > st.line || s.victim(st.line) >= 0
		if !waits {
			l.warn(b)
		}
		fmt.Fprintf(b, "step %s: %s;", st.name, st.sql)
		if waits {
			b.WriteString(" <waiting ...>")
		}
		b.WriteByte('\n')
		if !waits {
			l.print(b)
		}
		for _, woken := range s.woken(st.line) {
			w := s.lines[woken]
			w.warn(b)
			fmt.Fprintf(b, "step %s: <... completed>\n", byLine[woken].name)
			w.print(b)
		}
	}
	return b.String()
}

// woken are the waiting lines that are done after the i-th, in the order in which they began, the
// victim of a deadlock first.
func (s *Script) woken(i int) (lines []int) {
	victim := s.victim(i)
	if victim >= 0 {
		lines = append(lines, victim)
	}
	for n, l := range s.lines[:i+1] {
		if l.until == i && n != victim && (n < i || victim >= 0) {
			lines = append(lines, n)
		}
	}
	return lines
}

func (l *line) warn(b *strings.Builder) {
	for _, text := range l.notices {
		fmt.Fprintf(b, "%s: %s\n", l.terminal.name, text)
	}
}

// print writes what the tester prints of a line's results.
func (l *line) print(b *strings.Builder) {
	for _, r := range l.results {
		b.WriteString(r.table())
	}
	switch {
	case l.quits:
		b.WriteString("FATAL:  terminating connection due to administrator command\n" +
			"server closed the connection unexpectedly\n" +
			"\tThis probably means the server terminated abnormally\n" +
			"\tbefore or while processing the request.\n\n")
	case l.failure != nil:
		fmt.Fprintf(b, "%s\n", l.failure.message)
	}
}

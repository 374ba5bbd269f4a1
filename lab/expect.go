package lab

import "webhooklab/toxiproxy"

// Fired demands that a fault of the scenario's own fired once and let nothing through. Otherwise
// the run has put nothing to the test.
func (l *Lab) Fired(s *Session, f *toxiproxy.Fault) {
	s.spoiled = true
	if f.Fired() != 1 || f.Leaked() != 0 {
		l.give(VerdictUnknown, "the fault of %s fired %d times and let %d bytes through, want 1 and 0",
			s.Name, f.Fired(), f.Leaked())
	}
	l.trace.hop(s.Name, f)
	l.History.Note(s.Name, "fault", f.At.String()+", "+f.Close.String())
}

// Equal demands that a number counted by the scenario is what it should be.
func (l *Lab) Equal(what string, want, got int) {
	if got != want {
		l.give(VerdictInvalid, "%s: %d, want %d", what, got, want)
	}
}

// Same is Equal for words.
func (l *Lab) Same(what, want, got string) {
	if got != want {
		l.give(VerdictInvalid, "%s: %s, want %s", what, got, want)
	}
}

// Stored demands that so many events of this run are accepted.
func (l *Lab) Stored(want int) { l.Shows(want, "events") }

// Refused demands that so many refusals of this run are on record, each counted once however often
// it was sent. Receivers that keep no refusals are not asked.
func (l *Lab) Refused(want int) {
	if l.cfg.State.SQL("refusals") != "" {
		l.Shows(want, "refusals")
	}
}

// Shows demands that a table of the receiver's State has so many rows of this run.
func (l *Lab) Shows(want int, table string) {
	sql := l.cfg.State.SQL(table)
	if sql == "" {
		l.give(VerdictNotRun, "the receiver does not show its %s", table)
	}
	l.Equal(table, want, l.count(`SELECT FROM (`+sql+`) AS t WHERE source = ANY ($1::text[])`,
		l.fresher()))
}

// Rows demands that a SELECT of the scenario's own returns so many rows.
func (l *Lab) Rows(want int, sql string) {
	l.Equal("rows of "+l.plain(sql), want, l.count(sql))
}

func (l *Lab) count(sql string, args ...any) int {
	l.observer.mu.Lock()
	defer l.observer.mu.Unlock()
	rows, err := l.observer.conn.Query(l.ctx, sql, args...)
	if err != nil {
		l.give(VerdictUnknown, "count rows: %v", err)
	}
	n := 0
	for rows.Next() {
		n++
	}
	if err := rows.Err(); err != nil {
		l.give(VerdictUnknown, "count rows: %v", err)
	}
	return n
}

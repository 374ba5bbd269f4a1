package toxiproxy

import (
	"slices"
	"strings"
)

// Statement is one SQL statement of a command, with the arguments bound to it as they crossed the
// wire.
type Statement struct {
	SQL     string
	Args    [][]byte // nil is NULL; text or binary, see Formats
	Formats []int16  // one per argument: 0 text, 1 binary
}

// Command is what a client sends and then waits for: a simple Query, or the messages of an
// extended cycle up to its Sync, or up to a Flush once something is executed.
type Command struct {
	ID         uint64 // unique in this process
	Conn       int
	PID        uint32 // of the backend; 0 before it is known
	Statements []Statement

	name *name // known beforehand for what crosses a wire
}

// A name is what is known of a command by its texts alone.
type name struct {
	label string
	local bool
}

// SQL is all statements in their order, joined by "; ".
func (c Command) SQL() string {
	texts := make([]string, len(c.Statements))
	for i, s := range c.Statements {
		texts[i] = s.SQL
	}
	return strings.Join(texts, "; ")
}

// Local tells that the command only prepares: it touches no data, waits for nobody, and passes
// the gate by itself.
//
// These are cycles that execute nothing (Parse, Describe, Close, Sync), empty queries, BEGIN, and
// a session's housekeeping: SET, RESET, SHOW, DISCARD, DEALLOCATE. SET CONSTRAINTS is not among
// them: it runs the checks that were put off.
func (c Command) Local() bool {
	if c.name != nil {
		return c.name.local
	}
	for _, s := range c.Statements {
		if !local(s.SQL) {
			return false
		}
	}
	return true
}

func local(sql string) bool {
	l := newLexer(sql)
	first, ok := l.next()
	for ok && first.kind == ';' {
		first, ok = l.next()
	}
	switch {
	case !ok:
		return true
	case first.is("START"):
		return l.word() == "TRANSACTION"
	case first.is("SET"):
		return l.word() != "CONSTRAINTS"
	}
	return slices.ContainsFunc(housekeeping(), first.is)
}

func housekeeping() []string {
	return []string{"BEGIN", "RESET", "SHOW", "DISCARD", "DEALLOCATE"}
}

// Answer is what the server said about one command.
type Answer struct {
	Tags     []string // of each CommandComplete
	Rows     int      // DataRow messages
	SQLState string   // of its first error; "" without one
	TxStatus byte     // 'I' idle, 'T' in a transaction, 'E' in a failed one; 0 if none was told
}

// Committed tells that the server made something durable: a COMMIT that was one, or statements
// outside a transaction that ended without an error.
//
// COMMIT of a failed transaction answers ROLLBACK and no error: that is not committed.
func (a Answer) Committed() bool {
	for _, tag := range a.Tags {
		if tag == "COMMIT" || tag == "COMMIT PREPARED" {
			return true
		}
	}
	if len(a.Tags) == 0 || a.SQLState != "" || a.TxStatus != 'I' {
		return false
	}
	last := a.Tags[len(a.Tags)-1]
	return last != "ROLLBACK" && last != "ROLLBACK PREPARED" && last != "PREPARE TRANSACTION"
}

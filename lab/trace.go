package lab

import (
	"strings"
	"time"

	"webhooklab/toxiproxy"
)

// A Trace is what the wire and the observer saw of one run, in order. Times count from the run's
// beginning; 0 is never.
//
// Statements and arguments stand as they crossed the wire. Plain makes what is shown of them alike
// from run to run.
type Trace struct {
	Fresh      string            `json:"fresh"`    // what made this run's sources its own
	Sessions   []string          `json:"sessions"` // in the order of their first mention
	Settings   []TracedSetting   `json:"settings,omitempty"`
	Operations []TracedOperation `json:"operations"`
	Commands   []TracedCommand   `json:"commands"` // in the order of their sending
	Waits      []TracedWait      `json:"waits,omitempty"`
	Rows       []TracedRows      `json:"rows,omitempty"` // only if Config.Rows asks for them
	Marks      []TracedMark      `json:"marks,omitempty"`
	Own        []TracedSQL       `json:"own,omitempty"`
	Ends       []TracedEnd       `json:"ends,omitempty"`
}

// A TracedOperation is what a session was told to do, from its beginning to its answer.
type TracedOperation struct {
	Session string        `json:"session"`
	What    string        `json:"what"`
	Began   time.Duration `json:"began"`
	Ended   time.Duration `json:"ended,omitempty"`
	Answer  string        `json:"answer,omitempty"`
	Error   string        `json:"error,omitempty"`
}

// A TracedCommand is one command on its way: held, sent, answered, or struck by a fault instead.
type TracedCommand struct {
	Session    string                `json:"session"`
	Conn       int                   `json:"conn"` // of the session, from 1
	PID        uint32                `json:"pid"`
	Step       int                   `json:"step,omitempty"` // that released it, from 1; 0: it passed by itself
	Label      string                `json:"label"`
	Local      bool                  `json:"local,omitempty"`
	Statements []toxiproxy.Statement `json:"statements"`
	Held       time.Duration         `json:"held,omitempty"`
	Sent       time.Duration         `json:"sent,omitempty"`
	Answered   time.Duration         `json:"answered,omitempty"`
	Answer     toxiproxy.Answer      `json:"answer"` // also of a command whose acknowledgement was lost
	Fault      string                `json:"fault,omitempty"`
	Struck     time.Duration         `json:"struck,omitempty"` // by the fault

	seq uint64           // of its sending, or of what it met instead
	by  *toxiproxy.Fault // that struck it
}

// End is when the command was over: answered or struck, 0 if it was neither.
func (c TracedCommand) End() time.Duration { return max(c.Answered, c.Struck) }

// A TracedWait is a proved wait, from the observation that proved it to the command's next one or
// its end.
type TracedWait struct {
	Session      string        `json:"session"`
	Command      string        `json:"command"`
	CommandIndex int           `json:"command_index"` // in Trace.Commands
	For          []string      `json:"for"`
	Wait         Wait          `json:"wait"`
	From         time.Duration `json:"from"`
	To           time.Duration `json:"to,omitempty"`

	id uint64 // of the command
}

// TracedRows are the tables of the receiver's State as they stood after a commit was answered and
// everybody had settled.
type TracedRows struct {
	After  int           `json:"after"` // index of the last command that committed something
	At     time.Duration `json:"at"`
	Tables []TracedTable `json:"tables"`

	id uint64 // of the command
}

// A TracedTable is one table's rows of the run, each as transcripts show it.
type TracedTable struct {
	Name string   `json:"name"`
	Rows []string `json:"rows,omitempty"`
}

// A TracedMark is what the lab itself did, as the transcript tells it.
type TracedMark struct {
	At    time.Duration `json:"at"`
	Text  string        `json:"text"`
	Fault bool          `json:"fault,omitempty"` // it struck somebody
}

// A TracedSetting is what a session's connections start with, where it differs from the others.
type TracedSetting struct {
	Session string `json:"session"`
	Setting
}

// A TracedSQL is a statement of the scenario's own, on the lab's direct connection.
type TracedSQL struct {
	At   time.Duration `json:"at"`
	SQL  string        `json:"sql"`
	Args []any         `json:"args,omitempty"`
}

// A TracedEnd is the end of a connection that had sent commands, as the wire saw it.
type TracedEnd struct {
	Session string        `json:"session"`
	Conn    int           `json:"conn"`
	At      time.Duration `json:"at"`
}

// Plain puts the stable names of sources back into a text of this run.
func (t *Trace) Plain(text string) string { return strings.ReplaceAll(text, t.Fresh, "") }

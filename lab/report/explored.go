package report

import (
	"strings"
	"time"

	"webhooklab/lab"
)

// An Explored is what came of one program of sessions that was played in many orders, or killed at
// many places, instead of once.
//
// Orders are all that its commands could be put in if none ever waited; of the tree of those,
// Explored were played, Pruned branches were not entered because what was played stands for all that
// is in them, and Left branches were not entered because the budget ended. Cells are crash points
// that were struck.
type Explored struct {
	Program   string            `json:"program"`
	Suite     string            `json:"suite,omitempty"`
	Law       string            `json:"law,omitempty"`
	Verdict   lab.Verdict       `json:"verdict"`
	Orders    int               `json:"orders,omitempty"` // 0: not counted
	Explored  int               `json:"explored,omitempty"`
	Pruned    int               `json:"pruned,omitempty"`
	Left      int               `json:"left,omitempty"`
	Cells     int               `json:"cells,omitempty"`
	Gates     int               `json:"gates,omitempty"`   // stops at gates inside statements
	Control   *Explored         `json:"control,omitempty"` // the same without gates
	ElapsedMS float64           `json:"elapsed_ms"`
	Reason    string            `json:"reason,omitempty"` // why it was not run, or why some was left
	Failures  []ExploredFailure `json:"failures,omitempty"`

	GivenUp     int          `json:"given_up,omitempty"` // of Pruned: begun before they were
	Listed      []lab.Order  `json:"listed,omitempty"`   // that were played, and drawn beyond them
	Ends        []lab.End    `json:"ends,omitempty"`     // that these came to
	CrashPoints []CrashPoint `json:"crash_points,omitempty"`
}

// An ExploredFailure is one schedule that broke a law or could not be judged.
type ExploredFailure struct {
	Line       string     `json:"line"` // that replays it
	Law        string     `json:"law"`
	Text       string     `json:"text"`
	Transcript string     `json:"transcript,omitempty"`
	Trace      *lab.Trace `json:"trace,omitempty"` // its timeline, if it was kept
}

// A CrashPoint is one fault at one command, and what came of it: a cell of a sweep.
type CrashPoint struct {
	Place       int         `json:"place"` // of the command in its run, from 1
	Command     string      `json:"command"`
	Other       string      `json:"other,omitempty"`       // where the second session stood
	Fault       string      `json:"fault"`                 // in words
	None        string      `json:"none,omitempty"`        // why it can't be struck; nothing came of it
	Transaction string      `json:"transaction,omitempty"` // what became of it
	Told        string      `json:"told,omitempty"`        // to the sender whose act was cut
	Again       string      `json:"again,omitempty"`       // to the same when it came again, if it did
	Answers     string      `json:"answers,omitempty"`     // to all in the end, where there are two
	Left        string      `json:"left,omitempty"`        // against a run without faults
	Verdict     lab.Verdict `json:"verdict"`
	Why         string      `json:"why,omitempty"`  // if it is not valid
	Line        string      `json:"line,omitempty"` // that replays it
}

const explored = "explored.jsonl"

// Exploration is the suite that the verdict on an explored program is told under.
const Exploration = "explored"

// Entry is the verdict on the program, told as that of any other case.
func (x Explored) Entry() Entry {
	e := Entry{
		Suite: Exploration, Name: x.Program, Law: x.Law, Verdict: x.Verdict, Reason: x.Reason,
		Runs: x.Explored + x.Cells, Detail: x.Played(),
		Elapsed: time.Duration(x.ElapsedMS * float64(time.Millisecond)),
	}
	for i, f := range x.Failures {
		if i == 0 {
			e.Replay = f.Line
		}
		o := lab.Offence{Verdict: x.Verdict, Law: f.Law, Text: f.Text}
		if i > 0 {
			o.Text += "\n  schedule: " + f.Line
		}
		e.Offences = append(e.Offences, o)
	}
	return e
}

// Held tells that no law was broken in what was played.
func (x Explored) Held() bool { return x.Verdict == lab.VerdictValid }

// Played says in words how much of the program was played. What was left is never kept silent.
func (x Explored) Played() string {
	var parts []string
	if x.Explored > 0 {
		played := phrase(x.Explored, "order", "orders")
		if x.Orders > 0 {
			played = grouped(x.Explored) + " of " + phrase(x.Orders, "order", "orders")
		}
		parts = append(parts, played+" played")
	}
	if x.Pruned > 0 {
		parts = append(parts, phrase(x.Pruned, "branch", "branches")+" pruned as equivalent")
	}
	if x.Left > 0 {
		parts = append(parts, phrase(x.Left, "branch", "branches")+" left")
	}
	if x.Cells > 0 {
		parts = append(parts, phrase(x.Cells, "crash point", "crash points")+" struck")
	}
	if x.Gates > 0 {
		parts = append(parts, phrase(x.Gates, "stop", "stops")+" at gates inside statements")
	}
	text := strings.Join(parts, ", ")
	if x.Control != nil {
		text += "; without gates " + x.Control.Verdict.String() + ", " + x.Control.Played()
	}
	return text
}

// Reached says first whether every order of the program was played.
func (x Explored) Reached() string {
	text := x.Played()
	switch {
	case x.Left > 0:
		return "not every order: " + text
	case x.Held() && x.Explored > 0:
		return "every order: " + text
	}
	return text
}

// AppendExplored adds one line to explored.jsonl in dir, as Append does to the verdicts.
func AppendExplored(dir string, e Explored) error { return appendLine(dir, explored, e) }

// ReadExplored returns what was explored, in the order in which it was appended, none when there is
// no file.
func ReadExplored(dir string) ([]Explored, error) { return readLines[Explored](dir, explored) }

package report

import "strings"

// A Kill is one receiver before all judges: a row of the kill matrix. A reference must be clean to
// each of them; a flawed receiver must be caught, by the law that names its sin.
type Kill struct {
	Receiver  string `json:"receiver"`
	Suite     string `json:"suite"`
	Reference bool   `json:"reference,omitempty"`
	Kind      string `json:"kind,omitempty"` // of fault
	Harm      string `json:"harm,omitempty"` // in production
	Law       string `json:"law,omitempty"`  // that names the sin, in words
	Cells     []Cell `json:"cells"`          // one for each of Judges, in their order
}

// A Cell is what one judge had to say about one receiver.
type Cell struct {
	Judge     string  `json:"judge"`
	Ruling    Ruling  `json:"ruling"`
	Reason    string  `json:"reason,omitempty"` // why it was not run, or could not be judged
	By        string  `json:"by,omitempty"`     // the scenario or program that caught it
	Law       string  `json:"law,omitempty"`    // that was broken there, in words
	Text      string  `json:"text,omitempty"`   // how
	Named     bool    `json:"named,omitempty"`  // by the law that names the sin, or one as good
	Schedules int     `json:"schedules"`        // runs until then, or in all
	ElapsedMS float64 `json:"elapsed_ms,omitempty"`
	FoundMS   float64 `json:"found_ms,omitempty"` // … until the law was broken
	Line      string  `json:"line,omitempty"`     // that replays it
}

// A Ruling is what a judge came to.
type Ruling string

const (
	Caught Ruling = "caught"  // a law was broken
	Clean  Ruling = "clean"   // a reference, and nothing was broken
	Missed Ruling = "missed"  // a flawed receiver, and nothing was broken
	NoWord Ruling = "unknown" // it could not be judged
	NotRun Ruling = "not run"
)

// The judges of the matrix, from the one that knows the story to those that most people use.
const (
	ByScenarios   = "scenarios"
	ByProperties  = "properties"
	ByExploration = "exploration"
	ByGates       = "gates"
	BySweep       = "sweep"
	InTurn        = "two copies in turn"
	InLoops       = "30 loops"
)

// Judges are the columns. The last two are there for comparison: what the usual test finds.
var Judges = []string{
	ByScenarios, ByProperties, ByExploration, ByGates, BySweep, InTurn, InLoops,
}

// Strong says whether a receiver that this judge has caught is caught.
func Strong(judge string) bool { return judge != InTurn && judge != InLoops }

// Generic says whether the judge knows no story: it is given inputs, and tries all orders or cuts.
func Generic(judge string) bool {
	return judge == ByExploration || judge == ByGates || judge == BySweep
}

// Cell is what this judge had to say.
func (k Kill) Cell(judge string) Cell {
	for _, c := range k.Cells {
		if c.Judge == judge {
			return c
		}
	}
	return Cell{Judge: judge, Ruling: NotRun, Reason: "nobody asked"}
}

// CaughtBy lists the judges among those asked for that caught it by the law that names its sin.
func (k Kill) CaughtBy(asked func(judge string) bool) (judges []string) {
	for _, c := range k.Cells {
		if c.Ruling == Caught && c.Named && asked(c.Judge) {
			judges = append(judges, c.Judge)
		}
	}
	return judges
}

// Wrong says what must not be: a reference that is not clean, a flawed receiver that survives or is
// caught for something else only. "" is as it should be.
func (k Kill) Wrong() string {
	if k.Reference {
		for _, c := range k.Cells {
			if c.Ruling != Clean && c.Ruling != NotRun {
				return c.Judge + " found the reference " + string(c.Ruling) + ": " + c.why()
			}
		}
		return ""
	}
	if len(k.CaughtBy(Strong)) > 0 {
		return ""
	}
	for _, c := range k.Cells {
		if c.Ruling == Caught && Strong(c.Judge) {
			return "it is only caught by laws that don't name its sin, as " + c.By + " of " +
				c.Judge + ": " + c.why()
		}
	}
	return "it survives"
}

// Unjudged says of a reference that nothing was broken, as far as could be judged.
func (k Kill) Unjudged() bool {
	if !k.Reference {
		return false
	}
	for _, c := range k.Cells {
		if c.Ruling == Caught {
			return false
		}
	}
	return k.Wrong() != ""
}

func (c Cell) why() string {
	return strings.TrimPrefix(c.By+": "+c.Text+c.Reason, ": ")
}

const kills = "matrix.jsonl"

// AppendKill adds one row to matrix.jsonl in dir, as Append does to the verdicts.
func AppendKill(dir string, k Kill) error { return appendLine(dir, kills, k) }

// ReadKills returns the rows, in the order in which they were appended, none when there is no file.
func ReadKills(dir string) ([]Kill, error) { return readLines[Kill](dir, kills) }

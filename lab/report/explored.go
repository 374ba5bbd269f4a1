package report

import (
	"webhooklab/lab"
)

// An Explored is what came of one program of sessions that was played in many orders, or killed at
// many places, instead of once.
//
// Orders are all schedules that the program has; each was explored, or pruned because one that was
// explored stands for it, or left, because the budget ended. Cells are crash points that were
// struck.
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
	ElapsedMS float64           `json:"elapsed_ms"`
	Reason    string            `json:"reason,omitempty"` // why it was not run, or why some was left
	Failures  []ExploredFailure `json:"failures,omitempty"`
}

// An ExploredFailure is one schedule that broke a law or could not be judged.
type ExploredFailure struct {
	Line       string     `json:"line"` // that replays it
	Law        string     `json:"law"`
	Text       string     `json:"text"`
	Transcript string     `json:"transcript,omitempty"`
	Trace      *lab.Trace `json:"trace,omitempty"` // its timeline, if it was kept
}

const explored = "explored.jsonl"

// AppendExplored adds one line to explored.jsonl in dir, as Append does to the verdicts.
func AppendExplored(dir string, e Explored) error { return appendLine(dir, explored, e) }

// ReadExplored returns what was explored, in the order in which it was appended, none when there is
// no file.
func ReadExplored(dir string) ([]Explored, error) { return readLines[Explored](dir, explored) }

package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"webhooklab/lab"
)

// A Play is one run with all that a page shows of it.
type Play struct {
	Suite      string        `json:"suite"` // Scenario, Loop, Free, Flawed or Replay
	Name       string        `json:"name"`  // of the scenario, or of the broken receiver
	Scenario   string        `json:"scenario"`
	Law        string        `json:"law"`
	Verdict    lab.Verdict   `json:"verdict"`
	Offences   []lab.Offence `json:"offences,omitempty"`
	Schedule   string        `json:"schedule"`
	Transcript string        `json:"transcript"`
	Elapsed    time.Duration `json:"elapsed_ns"`
	Trace      *lab.Trace    `json:"trace"`
}

// traces is the folder that plays are kept in, a file for each.
const traces = "traces"

// SavePlay keeps a run as traces/<suite>.<name>.json in dir. An empty dir keeps nothing, and a run
// that was not played leaves nothing.
func SavePlay(dir, suite, name string, r lab.Report) error {
	if dir == "" || r.Trace == nil || r.Verdict == lab.VerdictNotRun {
		return nil
	}
	text, err := json.Marshal(Play{
		Suite: suite, Name: name, Scenario: r.Scenario, Law: r.Law, Verdict: r.Verdict,
		Offences: r.Offences, Schedule: r.Schedule, Transcript: r.Transcript,
		Elapsed: r.Elapsed, Trace: r.Trace,
	})
	if err != nil {
		return fmt.Errorf("report: encode the trace of %s: %w", name, err)
	}
	return saveFile(dir, traces, fileName(suite+"."+name)+".json", append(text, '\n'))
}

// readPlays returns the plays of a run, sorted by the names of their files.
func readPlays(dir string) ([]Play, error) {
	files, err := os.ReadDir(filepath.Join(dir, traces))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("report: read the traces: %w", err)
	}
	var all []Play
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, traces, f.Name()))
		if err != nil {
			return all, fmt.Errorf("report: read a trace: %w", err)
		}
		var p Play
		if err := json.Unmarshal(text, &p); err != nil {
			return all, fmt.Errorf("report: %s is no trace: %w; was the disk full?", f.Name(), err)
		}
		all = append(all, p)
	}
	return all, nil
}

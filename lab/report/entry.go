// Package report keeps what a gate has seen: one verdict a line while tests run, transcripts,
// histories and locks beside them, and at the end a summary in words and an exit code.
package report

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"webhooklab/lab"
)

// The suites that an entry may come from. Other names are shown under their own.
const (
	Scenario = "scenario" // stepped once, transcript held against the golden one
	Loop     = "loop"     // stepped again and again
	Free     = "free"     // released together again and again
	Flawed   = "flawed"   // a receiver broken on purpose; valid means that it was caught
	Law      = "law"      // a property over drawn sequences
	Replay   = "replay"   // one schedule played again
)

// An Entry is the verdict on one test of a suite.
type Entry struct {
	Suite       string           `json:"suite"`
	Name        string           `json:"name"`
	Law         string           `json:"law,omitempty"`
	Verdict     lab.Verdict      `json:"verdict"`
	Offences    []lab.Offence    `json:"offences,omitempty"`
	Runs        int              `json:"runs,omitempty"`
	Overlaps    int              `json:"overlaps,omitempty"`     // proven, of all runs together
	MinOverlaps int              `json:"min_overlaps,omitempty"` // of the poorest run
	Waits       []lab.ProvedWait `json:"waits,omitempty"`
	Replay      string           `json:"replay,omitempty"` // a schedule line, or a whole command
	Elapsed     time.Duration    `json:"elapsed_ns,omitempty"`
	NoFit       bool             `json:"no_fit,omitempty"` // the replay no longer fits
	Reason      string           `json:"reason,omitempty"` // why it was not run
	Detail      string           `json:"detail,omitempty"`
	CaughtBy    string           `json:"caught_by,omitempty"` // the scenario that a broken receiver failed
}

// verdicts is the file that entries are appended to.
const verdicts = "verdicts.jsonl"

// Append adds one entry to verdicts.jsonl in dir, as one line in one write, so that processes may
// share the file. An empty dir keeps nothing.
func Append(dir string, e Entry) error { return appendLine(dir, verdicts, e) }

// Read returns the entries of dir in the order in which they were appended, none when there is no
// file. At a line that is not an entry it returns those before it and an error that names it.
func Read(dir string) ([]Entry, error) { return readLines[Entry](dir, verdicts) }

func readLines[T any](dir, name string) ([]T, error) {
	f, err := os.Open(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("report: read the evidence: %w", err)
	}
	defer f.Close()
	var all []T
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for n := 1; lines.Scan(); n++ {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			return all, fmt.Errorf("report: %s, line %d, can't be read: %w; was the disk full?",
				f.Name(), n, err)
		}
		all = append(all, v)
	}
	if err := lines.Err(); err != nil {
		return all, fmt.Errorf("report: read the evidence: %w", err)
	}
	return all, nil
}

func appendLine(dir, name string, v any) error {
	if dir == "" {
		return nil
	}
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("report: encode a line of %s: %w", name, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("report: make the folder of the evidence: %w", err)
	}
	const flags = os.O_APPEND | os.O_CREATE | os.O_WRONLY
	f, err := os.OpenFile(filepath.Join(dir, name), flags, 0o644)
	if err != nil {
		return fmt.Errorf("report: keep evidence: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("report: keep evidence: %w; is there room on the disk?", err)
	}
	return nil
}

package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"webhooklab/lab"
)

// A loopLine is what loops.jsonl keeps of one run in a loop.
type loopLine struct {
	Scenario  string           `json:"scenario"`
	Loop      string           `json:"loop"`
	Verdict   lab.Verdict      `json:"verdict"`
	Overlaps  int              `json:"overlaps"` // proven: waits and overlaps on the wire
	Waits     []lab.ProvedWait `json:"waits,omitempty"`
	ElapsedMS float64          `json:"elapsed_ms"`
}

// Save keeps the evidence of one run in dir: transcripts/, histories/, traces/ and, when locks were
// waited for, locks/, in files named by scenario and suffix.
//
// A suffix other than "" names one run of a loop (".stepped-17"). Such a run is a line in
// loops.jsonl, and has files only if it was not valid. An empty dir keeps nothing.
func Save(dir string, r lab.Report, suffix string) error {
	if dir == "" {
		return nil
	}
	if suffix != "" {
		err := appendLine(dir, "loops.jsonl", loopLine{
			Scenario: r.Scenario, Loop: strings.TrimLeft(suffix, "._- "), Verdict: r.Verdict,
			Overlaps: r.Overlapped(), Waits: r.Waits,
			ElapsedMS: float64(r.Elapsed.Microseconds()) / 1000,
		})
		if err != nil || r.Verdict == lab.VerdictValid || r.Verdict == lab.VerdictNotRun {
			return err
		}
	}
	if err := SavePlay(dir, kindOf(suffix), r.Scenario+suffix, r); err != nil {
		return err
	}
	return saveFiles(dir, r, fileName(r.Scenario+suffix))
}

// kindOf is the suite that a suffix of a run belongs to.
func kindOf(suffix string) string {
	switch {
	case suffix == "":
		return Scenario
	case strings.HasPrefix(suffix, ".free"):
		return Free
	}
	return Loop
}

func saveFiles(dir string, r lab.Report, name string) error {
	if err := saveFile(dir, "transcripts", name+".txt", []byte(told(r))); err != nil {
		return err
	}
	if r.History != nil {
		var b bytes.Buffer
		if _, err := r.History.WriteTo(&b); err != nil {
			return fmt.Errorf("report: encode the history of %s: %w", r.Scenario, err)
		}
		if err := saveFile(dir, "histories", name+".jsonl", b.Bytes()); err != nil {
			return err
		}
	}
	if len(r.Waits) == 0 {
		return nil
	}
	locks, err := json.MarshalIndent(r.Waits, "", "  ")
	if err != nil {
		return fmt.Errorf("report: encode the locks of %s: %w", r.Scenario, err)
	}
	return saveFile(dir, "locks", name+".json", append(locks, '\n'))
}

// told is the transcript of a run that held, and the whole report of one that did not.
func told(r lab.Report) string {
	if r.Verdict == lab.VerdictValid {
		return r.Transcript
	}
	return r.String()
}

func saveFile(dir, kind, name string, text []byte) error {
	folder := filepath.Join(dir, kind)
	err := os.MkdirAll(folder, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name), text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("report: keep %s of a run: %w; is there room on the disk?", kind, err)
	}
	return nil
}

// fileName keeps letters, digits and "._-" and turns everything else into "_".
func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9',
			strings.ContainsRune("._-", r):
			return r
		}
		return '_'
	}, s)
}

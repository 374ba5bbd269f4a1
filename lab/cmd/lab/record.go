package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"webhooklab/lab/report"
)

// recordBound is the most that a recorded run may weigh, in bytes.
const recordBound = 200_000

// keepRecord puts summary, verdicts and transcripts of this run in logs/recorded, in place of what
// was there, if all held. What only this machine has, such as paths, is left out.
func (g *gate) keepRecord() error {
	if code, reason := g.result.ExitCode(); code != report.ExitHeld {
		return fmt.Errorf("nothing is recorded of a run that did not hold: %s", reason)
	}
	fresh := filepath.Join(g.dir, "recorded")
	if err := g.writeRecord(fresh); err != nil {
		return fmt.Errorf("record the run: %w", err)
	}
	kept := filepath.Join(g.root, "logs", "recorded")
	err := os.RemoveAll(kept)
	if err == nil {
		err = os.CopyFS(kept, os.DirFS(fresh))
	}
	if err == nil {
		err = os.RemoveAll(fresh)
	}
	if err != nil {
		return fmt.Errorf("record the run: %w", err)
	}
	fmt.Fprintln(g.human(), "\nrecorded in logs/recorded")
	return nil
}

func (g *gate) writeRecord(dir string) error {
	r := g.result
	r.Folder, r.Server = "", withoutPaths(r.Server)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	summary := []byte(report.Summary(r))
	if err := os.WriteFile(filepath.Join(dir, "summary.txt"), summary, 0o644); err != nil {
		return err
	}
	for _, e := range r.Entries {
		if err := report.Append(dir, lean(e)); err != nil {
			return err
		}
	}
	told := filepath.Join(g.dir, "transcripts")
	if err := copyTranscripts(filepath.Join(dir, "transcripts"), told); err != nil {
		return err
	}
	return lightEnough(dir)
}

// lean leaves out what the transcripts tell as well: waits, schedule, and the law of a scenario.
// The offences of what was not run repeat its reason.
func lean(e report.Entry) report.Entry {
	e.Waits, e.Replay, e.Offences, e.CaughtBy = nil, "", nil, ""
	switch e.Suite {
	case report.Scenario, report.Loop, report.Free:
		e.Law = ""
	}
	e.Reason, e.Detail = withoutPaths(e.Reason), withoutPaths(e.Detail)
	return e
}

// copyTranscripts copies them, the long ones cut.
func copyTranscripts(to, from string) error {
	files, err := os.ReadDir(from)
	if err == nil {
		err = os.MkdirAll(to, 0o755)
	}
	if err != nil {
		return err
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(from, f.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, f.Name()), cut(text), 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// transcriptLines is how many lines of a transcript are recorded.
const transcriptLines = 50

func cut(text []byte) []byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	if len(lines) <= transcriptLines+1 {
		return text
	}
	rest := fmt.Sprintf("… (%d more lines)\n", len(lines)-1-transcriptLines)
	return append(bytes.Join(lines[:transcriptLines], nil), rest...)
}

// absolutePath matches what only this machine has, up to its last element.
var absolutePath = regexp.MustCompile(`(^|[\s"'(=])/(?:[\w.+@-]+/)+`)

func withoutPaths(s string) string { return absolutePath.ReplaceAllString(s, "$1") }

func lightEnough(dir string) error {
	total := int64(0)
	err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	if err == nil && total > recordBound {
		err = errors.New("it weighs more than evidence in the repository should: " +
			fmt.Sprintf("%d of %d bytes", total, recordBound))
	}
	return err
}

package main

import (
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
	fmt.Fprintln(g.out, "\nrecorded in logs/recorded")
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
		e.Waits = nil // the transcripts show them, under names that mean something
		e.Reason, e.Detail = withoutPaths(e.Reason), withoutPaths(e.Detail)
		e.Offences = nil // those of what was not run repeat its reason
		if err := report.Append(dir, e); err != nil {
			return err
		}
	}
	told := filepath.Join(g.dir, "transcripts")
	if err := os.CopyFS(filepath.Join(dir, "transcripts"), os.DirFS(told)); err != nil {
		return err
	}
	return lightEnough(dir)
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

package scenarios

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"webhooklab/lab"
)

// A Failing store keeps the schedules that broke something, one file for each program, one line for
// each schedule: they are played first the next time.
type Failing struct {
	Dir string // "" keeps nothing
}

// Lines are the stored schedules of a program. Lines that no version of the lab can read any more
// are skipped.
func (f Failing) Lines(program string) (all []lab.Schedule, err error) {
	if f.Dir == "" {
		return nil, nil
	}
	text, err := os.ReadFile(f.file(program))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("scenarios: read what failed before: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if s, err := lab.ParseSchedule(line); err == nil {
			all = append(all, s)
		}
	}
	return all, nil
}

// Keep adds a schedule, unless it stands there.
func (f Failing) Keep(s lab.Schedule) error {
	if f.Dir == "" {
		return nil
	}
	known, err := f.Lines(s.Program)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(known, func(k lab.Schedule) bool { return k.String() == s.String() }) {
		return nil
	}
	if err := os.MkdirAll(f.Dir, 0o755); err != nil {
		return fmt.Errorf("scenarios: keep what failed: %w", err)
	}
	file, err := os.OpenFile(f.file(s.Program), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("scenarios: keep what failed: %w", err)
	}
	_, err = fmt.Fprintln(file, s)
	return errors.Join(err, file.Close())
}

func (f Failing) file(program string) string { return filepath.Join(f.Dir, program+".txt") }

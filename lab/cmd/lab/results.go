package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"webhooklab/lab/report"
)

// keepResults writes what came of the run for people and for other tools.
func (g *gate) keepResults() error {
	err := errors.Join(report.KeepFindings(g.dir, g.result.Compared),
		report.WritePage(g.dir, g.result), report.WriteGuarantees(g.dir, g.guarantees()))
	for name, text := range map[string][]byte{
		"summary.txt": []byte(report.Summary(g.result)),
		"summary.md":  []byte(report.Markdown(g.result)),
		"junit.xml":   report.JUnit(g.result, g.places),
	} {
		if failed := os.WriteFile(filepath.Join(g.dir, name), text, 0o644); failed != nil {
			err = errors.Join(err, fmt.Errorf("keep the %s: %w; is there room on the disk?",
				name, failed))
		}
	}
	return err
}

// readBaseline reads the findings that this run is compared with: those of the file that was asked
// for, which must be there, or those of the run before.
func (g *gate) readBaseline() error {
	path := g.baseline
	if path == "" {
		path = g.before
	}
	if path == "" {
		return nil
	}
	found, there, err := report.ReadFindings(path)
	switch {
	case g.baseline == "" && err != nil:
		g.say("no comparison with the run before: " + err.Error())
	case err != nil:
		return err
	case there:
		g.known, g.against = found, path
		if g.baseline == "" {
			g.against = filepath.Base(path)
		}
	case g.baseline != "":
		return fmt.Errorf("--baseline %s: there is no such file", g.baseline)
	}
	return nil
}

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"webhooklab/lab/report"
)

// tellGitHub shows the run where GitHub Actions shows results: on the page of the step, and beside
// the lines of the repository. Elsewhere it does nothing.
func (g *gate) tellGitHub() {
	if path := os.Getenv("GITHUB_STEP_SUMMARY"); path != "" {
		if err := appendFile(path, report.Markdown(g.result)); err != nil {
			g.say("the step's summary was not kept: " + err.Error())
		}
	}
	if os.Getenv("GITHUB_ACTIONS") == "true" {
		fmt.Fprint(g.human(), report.Annotations(g.result, g.places))
	}
}

func appendFile(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text + "\n")
	return errors.Join(err, f.Close())
}

// repository is what annotations name files relative to: the checkout that the project is in.
func repository(root string) string {
	checkout := os.Getenv("GITHUB_WORKSPACE")
	if checkout == "" {
		return root
	}
	if rel, err := filepath.Rel(checkout, root); err != nil || strings.HasPrefix(rel, "..") {
		return root
	}
	return checkout
}

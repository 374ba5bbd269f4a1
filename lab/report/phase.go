package report

import (
	"os"
	"path/filepath"
	"strings"
)

const sceneKept = "\n  the scene is kept in "

// KeptScene adds to an offence's text where the scene is.
func KeptScene(text, dir string) string { return text + sceneKept + dir }

// Scene is the folder in which the scene of a failure is kept, "" where none was.
func (e Entry) Scene() string {
	for _, o := range e.Offences {
		if _, dir, kept := strings.Cut(o.Text, sceneKept); kept {
			return firstLine(dir)
		}
	}
	return ""
}

// phaseLines is how many lines of a transcript are shown of the phase that failed.
const phaseLines = 8

// FailingPhase is the end of what the sessions of a failed run did, from the transcript in dir: the
// last steps, and where the play was stopped. Without a scene there is no transcript to show.
func FailingPhase(dir string, e Entry) []string {
	scene := e.Scene()
	if scene == "" {
		return nil
	}
	file := filepath.Join(dir, "transcripts", fileName(filepath.Base(scene))+".txt")
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	told, before := string(text), ""
	if i := strings.LastIndex(told, "\nscenario "); i >= 0 {
		told = told[i:] // what stands before tells of the offences
	}
	if _, steps, found := strings.Cut(told, "\n\n"); found {
		before, _, _ = strings.Cut(steps, "\n\n")
	}
	lines := strings.Split(strings.TrimSpace(before), "\n")
	if more := len(lines) - phaseLines; more > 0 {
		lines = append([]string{"…"}, lines[more:]...)
	}
	return lines
}

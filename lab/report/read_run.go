package report

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The head of a summary: the verdict, and the facts under it.
var (
	headline   = regexp.MustCompile(`^(PASS|FAIL|UNKNOWN|NO FIT): (.+?)\.?\n`)
	serverLine = regexp.MustCompile(`(?m)^server    (.+)$`)
	seedLine   = regexp.MustCompile(`(?m)^seed      (\d+)$`)
	timeLine   = regexp.MustCompile(`(?m)^time      (\S+)$`)
)

// ReadRun reads what a run has kept in dir: its verdicts, what it explored, and the head of its
// summary. What kept the lab from judging is in the summary alone.
func ReadRun(dir string) (Run, error) {
	var r Run
	text, err := os.ReadFile(filepath.Join(dir, "summary.txt"))
	if err != nil {
		return r, fmt.Errorf("report: %s is no folder of a run that has ended: %w", dir, err)
	}
	head := headline.FindSubmatch(text)
	seed, server, lasted := seedLine.FindSubmatch(text), serverLine.FindSubmatch(text),
		timeLine.FindSubmatch(text)
	if head == nil || seed == nil || server == nil || lasted == nil {
		return r, fmt.Errorf("report: %s/summary.txt has no verdict, server, seed and time", dir)
	}
	r.Server = string(server[1])
	if r.Seed, err = strconv.ParseUint(string(seed[1]), 10, 64); err != nil {
		return r, fmt.Errorf("report: the seed in %s/summary.txt: %w", dir, err)
	}
	if r.Elapsed, err = time.ParseDuration(string(lasted[1])); err != nil {
		return r, fmt.Errorf("report: the time in %s/summary.txt: %w", dir, err)
	}
	if r.Entries, err = Read(dir); err != nil {
		return r, err
	}
	if r.Explored, err = ReadExplored(dir); err != nil {
		return r, err
	}
	r.Trouble = untold(r, string(head[1]), string(head[2]))
	return r, nil
}

// untold is what a summary says of a run that did not hold and the run's verdicts don't.
func untold(r Run, word, reason string) string {
	_, known := r.ExitCode()
	if word == Headline(ExitHeld) || reason == known {
		return ""
	}
	return strings.TrimPrefix(reason, known+"; and ")
}

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"webhooklab/lab"
	"webhooklab/lab/report"
)

// A story is a run as a person reads it: a line for what held or was not run, and everything that
// is known of what did not hold.
type story struct {
	out     io.Writer
	dir     string // of the evidence
	colours bool
	seed    uint64
}

// The colours of a terminal.
const (
	green, red, yellow, faint = "\x1b[32m", "\x1b[1;31m", "\x1b[33m", "\x1b[2m"
	plainAgain                = "\x1b[0m"
)

// colours: on a terminal, unless the reader wants none (no-color.org).
func (g *gate) colours() bool { return g.terminal && os.Getenv("NO_COLOR") == "" }

func (s story) tell(e report.Entry) {
	word, colour := "held", green
	switch {
	case e.Verdict == lab.VerdictInvalid:
		word, colour = "BROKEN", red
	case e.NoFit:
		word, colour = "NO FIT", yellow
	case e.Verdict == lab.VerdictUnknown:
		word, colour = "NOT JUDGED", yellow
	case e.Verdict == lab.VerdictNotRun:
		word, colour = "not run", faint
	case e.Suite == report.Flawed:
		word = "caught"
	}
	mark := fmt.Sprintf("%-10s", word)
	if s.colours {
		mark = colour + mark + plainAgain
	}
	line := fmt.Sprintf("%s  %-8s  %-36s  %s", mark, e.Suite, e.Name, measured(e))
	line = strings.TrimRight(line, " ") + "\n"
	if e.Failed() {
		line += s.inFull(e)
	}
	io.WriteString(s.out, line) //nolint:errcheck // a person's screen
}

// inFull is all that is known of a failure: what the sessions did last, which law that broke and
// how, the schedule, and the line that repeats it.
func (s story) inFull(e report.Entry) string {
	var b strings.Builder
	for _, step := range report.FailingPhase(s.dir, e) {
		fmt.Fprintf(&b, "    | %s\n", step)
	}
	for line := range strings.Lines(report.Told(e, s.seed)) {
		b.WriteString("    " + line)
	}
	return report.Printable(b.String())
}

// measured is how long it took, how often it was run and how often sessions met; of what was not
// run the reason.
func measured(e report.Entry) string {
	if e.Verdict == lab.VerdictNotRun {
		reason, _, _ := strings.Cut(strings.TrimPrefix(e.Reason, "not run: "), "\n")
		return reason
	}
	text := fmt.Sprintf("%6.2f s", e.Elapsed.Round(10*time.Millisecond).Seconds())
	switch {
	case e.Suite == report.Exploration:
		return text + ", " + e.Detail
	case e.Runs > 1:
		text += fmt.Sprintf(", %d runs", e.Runs)
	}
	switch {
	case e.Overlaps == 1:
		text += ", 1 overlap"
	case e.Overlaps > 1:
		text += fmt.Sprintf(", %d overlaps", e.Overlaps)
	}
	return text
}

package report

import (
	"fmt"
	"regexp"
	"strings"

	"webhooklab/lab"
)

// scheduleLine is "name@seed step step …", as a lab.Report carries it.
var scheduleLine = regexp.MustCompile(`^[a-z0-9_]+@[0-9]+( |$)`)

// Schedule is the line that shows in which order commands went, "" when there is none.
func (e Entry) Schedule() string {
	if !scheduleLine.MatchString(e.Replay) {
		return ""
	}
	return strings.TrimSpace(e.Replay)
}

// Again is the command that repeats what this entry judged: its schedule where it has one, its own
// command, or the same name and seed. A free run has no schedule that could be played again.
func (e Entry) Again(seed uint64) string {
	switch {
	case e.Suite == Flawed:
		return "go test ./scenarios -count=1 -run " +
			quoted("TestFlawedReceiversAreCaught/"+exactly(e.Name))
	case e.Suite == Exploration && e.Replay != "":
		return "go run ./lab/cmd/lab replay " + quoted(strings.TrimSpace(e.Replay))
	case e.Suite != Free && scheduleLine.MatchString(e.Replay):
		return "./run_lab.sh --replay " + quoted(strings.TrimSpace(e.Replay))
	case e.Replay != "" && e.Suite != Free:
		return e.Replay
	case e.Suite == Law:
		return fmt.Sprintf("./run_lab.sh --seed %d --law %s", seed, quoted(exactly(e.Name)))
	}
	return fmt.Sprintf("./run_lab.sh --seed %d --scenario %s", seed, quoted(exactly(e.Name)))
}

func exactly(name string) string {
	first, _, _ := strings.Cut(name, "/")
	return "^" + regexp.QuoteMeta(first) + "$"
}

// quoted is text as one word of a POSIX shell.
func quoted(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Failed tells that the entry did not hold: it is broken, was not judged, or no longer fits.
func (e Entry) Failed() bool {
	return e.NoFit || e.Verdict == lab.VerdictInvalid || e.Verdict == lab.VerdictUnknown
}

// Failures are the entries that did not hold, the broken ones first.
func Failures(entries []Entry) (all []Entry) {
	for _, want := range []lab.Verdict{lab.VerdictInvalid, lab.VerdictUnknown} {
		for _, e := range entries {
			if e.Verdict == want {
				all = append(all, e)
			}
		}
	}
	for _, e := range entries {
		if e.NoFit && e.Verdict != lab.VerdictInvalid && e.Verdict != lab.VerdictUnknown {
			all = append(all, e)
		}
	}
	return all
}

package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"webhooklab/lab"
)

// A Run is one run of the gate, as far as it came.
type Run struct {
	Server   string // its own description; "" when none was reached
	Seed     uint64
	Options  string // those that made it less than a whole run, as typed; "" for none
	Folder   string // where the evidence is, as the reader may open it
	Elapsed  time.Duration
	Entries  []Entry
	Explored []Explored

	TestsFailed bool              // the tests ended in failure
	FailedTests []string          // by name, as far as known
	Outputs     map[string]string // what failed tests said, by name
	Passed      map[string]bool   // tests, by name
	Compared    Comparison        // of its findings with those of an earlier run
	Trouble     string            // why the lab stopped before its end, "" if it did not
}

// ExitCode is that of the entries, unless trouble kept the lab from judging all of them.
func (r Run) ExitCode() (int, string) {
	code, reason := ExitCode(r.Judged(), r.TestsFailed)
	if r.Trouble != "" && code != ExitBroken {
		return ExitUnjudged, r.Trouble
	}
	if r.Trouble != "" {
		reason += "; and " + r.Trouble
	}
	return code, reason
}

// Judged is every verdict of the run, those on explored programs among them.
func (r Run) Judged() []Entry {
	all := slices.Clone(r.Entries)
	for _, e := range r.Explored {
		all = append(all, e.Entry())
	}
	return all
}

// Summary tells a person what came of the run: what held, what was broken, what could not be
// judged or run and why, how much was run, what that proves and what it does not.
func Summary(r Run) string {
	var b strings.Builder
	code, reason := r.ExitCode()
	reason, rest, _ := strings.Cut(reason, "\n")
	fmt.Fprintf(&b, "%s: %s\n", Headline(code), strings.TrimRight(reason, ".:")+".")
	if rest != "" {
		fmt.Fprintf(&b, "    %s\n", strings.ReplaceAll(rest, "\n", "\n    "))
	}
	b.WriteString("\n")
	server := r.Server
	if server == "" {
		server = "none was reached"
	}
	fmt.Fprintf(&b, "server    %s\nseed      %d\n", server, r.Seed)
	if r.Options != "" {
		fmt.Fprintf(&b, "options   %s  (not a whole run)\n", r.Options)
	}
	fmt.Fprintf(&b, "time      %s\n", r.Elapsed.Round(time.Second/10))
	if r.Folder != "" {
		fmt.Fprintf(&b, "evidence  %s\n", r.Folder)
	}
	all := r.Judged()
	tellHeld(&b, all)
	for _, e := range Failures(all) {
		tellFailure(&b, e, r.Seed)
	}
	tellFindings(&b, r.Compared)
	tellSilent(&b, r)
	tellNotRun(&b, all)
	tellProof(&b, all)
	return b.String()
}

// Headline is the word for what an exit code says.
func Headline(code int) string {
	return map[int]string{
		ExitHeld: "PASS", ExitBroken: "FAIL", ExitUnjudged: "UNKNOWN", ExitNoFit: "NO FIT",
	}[code]
}

// suites are told in this order; each says what one of its entries is, and what holding means.
var suites = []struct{ name, one, many, held string }{
	{Scenario, "scenario", "scenarios", "stepped once, in exactly the recorded order"},
	{Loop, "concurrent scenario", "concurrent scenarios", "stepped in a loop"},
	{Free, "concurrent scenario", "concurrent scenarios", "released together in a loop"},
	{Law, "law", "laws", "over drawn sequences"},
	{Flawed, "broken receiver", "broken receivers", "caught"},
	{Exploration, "program", "programs", "explored"},
	{Replay, "schedule", "schedules", "played again"},
}

func tellHeld(b *strings.Builder, entries []Entry) {
	told := false
	for _, s := range suites {
		t := total(entries, s.name)
		if t.of == 0 {
			continue
		}
		if !told {
			b.WriteString("\nHELD, OF WHAT WAS RUN\n")
			told = true
		}
		fmt.Fprintf(b, "  %d of %s %s", t.held, phrase(t.of, s.one, s.many), s.held)
		if t.runs > t.of {
			fmt.Fprintf(b, ": %s", phrase(t.runs, "run", "runs"))
		}
		if t.overlaps > 0 {
			fmt.Fprintf(b, ", %s proven", phrase(t.overlaps, "overlap", "overlaps"))
		}
		if (s.name == Loop || s.name == Free) && t.overlaps > 0 {
			fmt.Fprintf(b, ", at least %d in each run", t.poorest)
		}
		b.WriteString("\n")
		if s.name == Law || s.name == Exploration {
			tellDetails(b, entries, s.name)
		}
	}
}

// tellDetails says of each law what its sequences were made of, of each explored program how much
// of it was played.
func tellDetails(b *strings.Builder, entries []Entry, suite string) {
	for _, e := range entries {
		if e.Suite == suite && e.Verdict == lab.VerdictValid && e.Detail != "" {
			fmt.Fprintf(b, "    %s: %s\n", e.Name, indented(e.Detail))
		}
	}
}

// tally adds up one suite. poorest is the fewest overlaps of any run, fewest the fewest runs of
// any entry that held.
type tally struct{ of, held, runs, overlaps, poorest, fewest int }

func total(entries []Entry, suite string) (t tally) {
	t.poorest, t.fewest = math.MaxInt, math.MaxInt
	for _, e := range entries {
		if e.Suite != suite || e.Verdict == lab.VerdictNotRun {
			continue
		}
		t.of++
		t.runs += max(1, e.Runs)
		t.overlaps += e.Overlaps
		if e.Verdict == lab.VerdictValid && !e.NoFit {
			t.held++
			t.poorest, t.fewest = min(t.poorest, e.MinOverlaps), min(t.fewest, e.Runs)
		}
	}
	if t.held == 0 {
		t.poorest, t.fewest = 0, 0
	}
	return t
}

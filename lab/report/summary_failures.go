package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"webhooklab/lab"
)

// tellFailure tells of one entry: its law, its first and its worst offence with their places, and
// the command that repeats it.
func tellFailure(b *strings.Builder, e Entry, seed uint64) {
	word := "NOT JUDGED"
	switch {
	case e.Verdict == lab.VerdictInvalid:
		word = "BROKEN"
	case e.NoFit:
		word = "NO FIT"
	}
	fmt.Fprintf(b, "\n%s  %s %s", word, e.Suite, e.Name)
	if e.Runs > 1 {
		fmt.Fprintf(b, ", in %s", phrase(e.Runs, "run", "runs"))
	}
	b.WriteString("\n")
	tellWhat(b, e)
	tellAgain(b, e, seed)
}

// tellWhat tells of a failure: its law, its offences with their places, and what more is known.
func tellWhat(b *strings.Builder, e Entry) {
	if e.Law != "" {
		fmt.Fprintf(b, "  law: %s\n", e.Law)
	}
	switch {
	case len(e.Offences) > 0:
		tellOffences(b, e)
	case e.Reason != "":
		fmt.Fprintf(b, "  %s\n", indented(e.Reason))
	}
	if e.Detail != "" {
		fmt.Fprintf(b, "  %s\n", indented(e.Detail))
	}
}

func tellAgain(b *strings.Builder, e Entry, seed uint64) {
	fmt.Fprintf(b, "  again: %s\n", e.Again(seed))
	if e.Suite == Free {
		b.WriteString("  (it was a free run: the seed repeats its input, not its order)\n")
	}
}

// Told is what a person or another tool is told of an entry that did not hold: law, offences,
// schedule, and the line that repeats it.
func Told(e Entry, seed uint64) string {
	var b strings.Builder
	tellWhat(&b, e)
	if s := e.Schedule(); s != "" {
		fmt.Fprintf(&b, "  schedule: %s\n", s)
	}
	tellAgain(&b, e, seed)
	return strings.ReplaceAll(strings.TrimPrefix(b.String(), "  "), "\n  ", "\n")
}

func tellOffences(b *strings.Builder, e Entry) {
	worst := e.worst()
	if worst == 0 {
		tellOffence(b, "first and worst", e, 0)
	} else {
		tellOffence(b, "first", e, 0)
		tellOffence(b, "worst", e, worst)
	}
	if more := len(e.Offences) - 1; worst == 0 && more > 0 {
		fmt.Fprintf(b, "  and %s\n", phrase(more, "other", "others"))
	}
}

// worst is the place of the first of the worst offences, 0 when there is none.
func (e Entry) worst() (worst int) {
	for i, o := range e.Offences {
		if o.Verdict > e.Offences[worst].Verdict {
			worst = i
		}
	}
	return worst
}

func tellOffence(b *strings.Builder, rank string, e Entry, i int) {
	o := e.Offences[i]
	if len(e.Offences) == 1 {
		rank = "offence"
	}
	fmt.Fprintf(b, "  %s: %s\n", rank, indented(o.Text))
	if o.Law != "" && o.Law != e.Law {
		fmt.Fprintf(b, "    of the law: %s\n", o.Law)
	}
	if o.At != "" {
		fmt.Fprintf(b, "    at %s\n", o.At)
	}
}

// Printable is text without characters that a terminal or a page would obey instead of show.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// most is how many lines of one offence the summary shows; the transcript has them all.
const most = 12

func indented(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) > most {
		lines = append(lines[:most], "…")
	}
	return strings.Join(lines, "\n    ")
}

// tellSilent names tests that failed where no verdict tells of a failure.
func tellSilent(b *strings.Builder, r Run) {
	silent := r.Silent()
	if len(silent) == 0 {
		return
	}
	b.WriteString("\nFAILED WITHOUT A VERDICT  (junit.xml has their output)\n")
	for i, name := range silent {
		if i == most {
			fmt.Fprintf(b, "  and %d more\n", len(silent)-most)
			break
		}
		fmt.Fprintf(b, "  %s\n", name)
	}
}

// Silent are the failed tests of which no entry tells why.
func (r Run) Silent() []string {
	failures := Failures(r.Judged())
	return slices.DeleteFunc(slices.Clone(r.FailedTests), func(test string) bool {
		return slices.ContainsFunc(failures, func(e Entry) bool {
			first, _, _ := strings.Cut(e.Name, "/")
			return strings.HasSuffix(test, "/"+e.Name) || strings.HasSuffix(test, "."+first) ||
				strings.Contains(test, "."+first+"/") || e.Suite == Replay
		})
	})
}

// tellNotRun gives each reason once, with those that it kept from running.
func tellNotRun(b *strings.Builder, entries []Entry) {
	var reasons []string
	names := map[string][]string{}
	for _, e := range entries {
		if e.Verdict != lab.VerdictNotRun {
			continue
		}
		why := strings.TrimPrefix(e.because(), "not run: ")
		if names[why] == nil {
			reasons = append(reasons, why)
		}
		names[why] = append(names[why], e.Name)
	}
	if len(reasons) == 0 {
		return
	}
	b.WriteString("\nNOT RUN  (neither passed nor failed)\n")
	for _, why := range reasons {
		fmt.Fprintf(b, "  %s: %s\n", strings.Join(names[why], ", "), indented(why))
	}
}

package report

import (
	"fmt"
	"strings"

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
	fmt.Fprintf(b, "  again: %s\n", e.Again(seed))
	if e.Suite == Free {
		b.WriteString("  (it was a free run: the seed repeats its input, not its order)\n")
	}
}

func tellOffences(b *strings.Builder, e Entry) {
	first, worst := 0, 0
	for i, o := range e.Offences {
		if o.Verdict > e.Offences[worst].Verdict {
			worst = i
		}
	}
	if first == worst {
		tellOffence(b, "first and worst", e, first)
	} else {
		tellOffence(b, "first", e, first)
		tellOffence(b, "worst", e, worst)
	}
	if more := len(e.Offences) - 1; first == worst && more > 0 {
		fmt.Fprintf(b, "  and %s\n", phrase(more, "other", "others"))
	}
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
	if len(r.FailedTests) == 0 || len(Failures(r.Entries)) > 0 {
		return
	}
	b.WriteString("\nFAILED WITHOUT A VERDICT  (junit.xml has their output)\n")
	for i, name := range r.FailedTests {
		if i == most {
			fmt.Fprintf(b, "  and %d more\n", len(r.FailedTests)-most)
			break
		}
		fmt.Fprintf(b, "  %s\n", name)
	}
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

package report

import (
	"fmt"
	"math"
	"strings"
)

// FailureBound is the greatest chance of failure per run that n clean runs leave open at 95 %
// confidence, if runs are independent and alike: 1 − 0.05^(1/n). It is 1 for no runs.
func FailureBound(n int) float64 {
	if n <= 0 {
		return 1
	}
	return -math.Expm1(math.Log(0.05) / float64(n))
}

// proofs says what the clean runs prove, a paragraph each, broken into lines.
func proofs(entries []Entry) (all []string) {
	loop, free, law := total(entries, Loop), total(entries, Free), total(entries, Law)
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if total(entries, Scenario).held > 0 || loop.held > 0 {
		add("A stepped run is one exact order of commands and faults. For that order" +
			" the law holds.\n  Other orders are not sampled by it.")
	}
	if loop.fewest > 1 {
		add("%s of a stepped case, all clean: what disturbs its outcome by chance"+
			" does so in\n  less than %s of runs (95 %% confidence).", phrase(loop.fewest, "loop", "loops"), percent(loop.fewest))
	}
	if free.fewest > 1 {
		add("Free runs are samples of the orders that this machine produced."+
			" %s, all clean: the\n  case fails in less than %s of such runs (95 %% confidence,"+
			" 1 - 0.05^(1/n)). A rarer failure\n  may well have stayed unseen.",
			phrase(free.fewest, "loop", "loops"), percent(free.fewest))
	}
	if law.fewest > 1 {
		add("%s drawn for each law (fewest), all clean: the law fails for less than"+
			" %s of\n  what this generator draws (95 %% confidence). What it never draws is not"+
			" covered.", phrase(law.fewest, "sequence", "sequences"), percent(law.fewest))
	}
	return all
}

// unproved is what no run of this gate proves.
const unproved = "Nothing about throughput or latency, about other servers, versions or settings" +
	" than\n  the one named above, or about what a receiver does outside its database."

// tellProof says what the clean runs prove, and what they don't.
func tellProof(b *strings.Builder, entries []Entry) {
	loop, free, law := total(entries, Loop), total(entries, Free), total(entries, Law)
	if loop.fewest+free.fewest+law.fewest+total(entries, Scenario).held == 0 {
		return
	}
	b.WriteString("\nWHAT THIS PROVES\n")
	for _, text := range proofs(entries) {
		fmt.Fprintf(b, "  %s\n", text)
	}
	fmt.Fprintf(b, "\nWHAT IT DOES NOT PROVE\n  %s\n", unproved)
}

// percent is the failure bound of n clean runs, to two digits.
func percent(n int) string { return fmt.Sprintf("%.2g %%", 100*FailureBound(n)) }

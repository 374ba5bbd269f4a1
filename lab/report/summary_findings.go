package report

import (
	"fmt"
	"strings"
	"time"
)

// A kind of findings, and the word for it.
type kind struct {
	word     string
	findings []Finding
}

func (c Comparison) kinds() []kind {
	return []kind{{"new", c.New}, {"still there", c.Still}, {"fixed", c.Fixed},
		{"not judged again", c.Unjudged}}
}

// tellFindings says what is new, what is still there and what is gone since the earlier run.
func tellFindings(b *strings.Builder, c Comparison) {
	if !c.Any() {
		return
	}
	b.WriteString("\nFINDINGS  ")
	if c.Baseline == "" {
		b.WriteString("(there is no earlier run to compare with)\n")
	} else {
		fmt.Fprintf(b, "(compared with %s)\n", c.Baseline)
	}
	for _, kind := range c.kinds() {
		for _, f := range kind.findings {
			fmt.Fprintf(b, "  %-16s %s  %s %s", kind.word, f.Fingerprint, f.Suite, f.Name)
			if kind.word != "new" && f.Since != "" {
				fmt.Fprintf(b, ", since %s", f.Since)
			}
			fmt.Fprintf(b, "\n    %s\n", shortened(f.Offence))
		}
	}
}

// findingLength is how much of an offence a list of findings shows, in characters.
const findingLength = 160

func shortened(text string) string {
	if all := []rune(text); len(all) > findingLength {
		return string(all[:findingLength]) + "…"
	}
	return text
}

// shortly is a time to a tenth of a second, and to a second from a minute on.
func shortly(d time.Duration) string {
	if d >= time.Minute {
		return d.Round(time.Second).String()
	}
	return d.Round(time.Second / 10).String()
}

package report

import (
	"fmt"
	"slices"
	"strings"
)

// KillsText is the matrix as a person reads it in a terminal: each receiver with what every judge
// said, and in the end what must not be.
func KillsText(all []Kill) string {
	var b strings.Builder
	for _, k := range all {
		b.WriteString(k.Text() + "\n")
	}
	b.WriteString(KillsSummary(all))
	return b.String()
}

// Text is one row.
func (k Kill) Text() string {
	var b strings.Builder
	if k.Reference {
		fmt.Fprintf(&b, "%s: the reference\n", k.Receiver)
	} else {
		fmt.Fprintf(&b, "%s (%s)\n  harm: %s\n  law:  %s\n", k.Receiver, k.Suite, k.Harm, k.Law)
	}
	for _, c := range k.Cells {
		fmt.Fprintf(&b, "  %-18s %-8s %s\n", c.Judge, c.Ruling, c.told(k))
	}
	if wrong := k.Wrong(); wrong != "" {
		fmt.Fprintf(&b, "  WRONG: %s\n", wrong)
	}
	return b.String()
}

// told says by what, after how much, by which law, and how to see it again.
func (c Cell) told(k Kill) string {
	ms := c.ElapsedMS
	if c.Named {
		ms = c.FoundMS
	}
	took := fmt.Sprintf("%s, %.0f ms", phrase(c.Schedules, "schedule", "schedules"), ms)
	if c.Ruling == NotRun {
		return c.Reason
	}
	if c.Ruling != Caught {
		return strings.TrimSuffix(took+"; "+c.Reason, "; ")
	}
	text := c.By + ", " + took
	if c.Law != k.Law {
		text += "\n    law:   " + c.Law
	}
	if c.Line != "" && Generic(c.Judge) {
		text += "\n    again: " + c.again(k)
	}
	return text
}

func (c Cell) again(k Kill) string {
	return fmt.Sprintf("lab replay -receiver %s '%s'", k.Receiver, c.Line)
}

// asked says whether a judge was asked at all.
func asked(k Kill, judge string) bool { return k.Cell(judge).Ruling != NotRun }

// KillsSummary says in a few lines what came of all.
func KillsSummary(all []Kill) string {
	var b strings.Builder
	references, caught, usual, alone, missed := 0, 0, 0, []string{}, []string{}
	for _, k := range all {
		switch {
		case k.Reference:
			references++
			continue
		case k.Wrong() == "":
			caught++
		}
		if asked(k, ByScenarios) && !k.Cell(ByScenarios).Named && len(k.CaughtBy(Generic)) > 0 {
			alone = append(alone, k.Receiver)
		}
		if asked(k, InTurn) && asked(k, InLoops) {
			usual++
		}
		if k.Cell(InTurn).Ruling != Caught && k.Cell(InLoops).Ruling != Caught {
			missed = append(missed, k.Receiver)
		}
	}
	flawed := len(all) - references
	fmt.Fprintf(&b, "%s, %d of %s caught by the law that names them\n",
		phrase(references, "reference", "references"), caught,
		phrase(flawed, "flawed receiver", "flawed receivers"))
	if len(alone) > 0 {
		fmt.Fprintf(&b, "caught by orders or cuts, and by no scenario: %s\n",
			strings.Join(alone, ", "))
	}
	if usual > 0 {
		fmt.Fprintf(&b, "survive the usual tests, two copies in turn and 30 loops: %d of %d\n",
			len(missed), flawed)
	}
	for _, k := range all {
		if wrong := k.Wrong(); wrong != "" {
			fmt.Fprintf(&b, "WRONG: %s: %s\n", k.Receiver, wrong)
		}
	}
	return b.String()
}

// KillsMarkdown is the matrix as one table: for each judge the number of schedules after which it
// caught the receiver.
func KillsMarkdown(all []Kill) string {
	var b strings.Builder
	b.WriteString("| receiver | law that it breaks | " + strings.Join(Judges, " | ") + " |\n")
	b.WriteString("|---|---|" + strings.Repeat("---|", len(Judges)) + "\n")
	for _, k := range all {
		law := k.Law
		if k.Reference {
			law = "none: the reference of " + k.Suite
		}
		fmt.Fprintf(&b, "| `%s` | %s |", k.Receiver, law)
		for _, judge := range Judges {
			fmt.Fprintf(&b, " %s |", k.Cell(judge).mark())
		}
		b.WriteString("\n")
	}
	b.WriteString("\nA number: caught after so many schedules; in brackets by another law than the " +
		"one that names the sin; –: not caught; ✓: a reference, and clean; blank: not asked, " +
		"because an earlier judge needed less.\n")
	return b.String()
}

func (c Cell) mark() string {
	switch {
	case c.Ruling == Caught && (c.Named || !Strong(c.Judge)):
		return fmt.Sprint(c.Schedules)
	case c.Ruling == Caught:
		return fmt.Sprintf("(%d)", c.Schedules)
	case c.Ruling == Missed:
		return "–"
	case c.Ruling == Clean:
		return "✓"
	case c.Ruling == NoWord:
		return "?"
	}
	return ""
}

// AnyWrong says whether something is as it must not be.
func AnyWrong(all []Kill) bool {
	return slices.ContainsFunc(all, func(k Kill) bool { return k.Wrong() != "" })
}

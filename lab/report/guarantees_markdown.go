package report

import (
	"fmt"
	"strings"
)

// Markdown is the same for a design review that lives in a repository or a wiki.
func (g Guarantees) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n", plain(g.Title()), plain(g.Verdict()))
	if facts := g.Facts(); len(facts) > 0 {
		b.WriteString("\n| | |\n|---|---|\n")
		for _, f := range facts {
			fmt.Fprintf(&b, "| %s | %s |\n", f.Name, plain(f.Value))
		}
	}
	for _, c := range g.Contracts {
		g.markContract(&b, c)
	}
	b.WriteString("\n## What is not promised\n\n")
	markList(&b, g.NotPromised)
	return b.String()
}

func (g Guarantees) markContract(b *strings.Builder, c Guaranteed) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n", plain(c.Title), g.Counts(c))
	for i, p := range c.Promises {
		fmt.Fprintf(b, "\n### %s %d: %s\n", plain(c.Name), i+1, plain(p.Law))
		for n := range p.Stories {
			g.markStory(b, p, n)
		}
	}
	g.markSituations(b, c)
	markLaws(b, c.Laws)
	if len(c.NotPromised) > 0 {
		b.WriteString("\n### What this contract does not promise\n\n")
		markList(b, c.NotPromised)
	}
}

func (g Guarantees) markStory(b *strings.Builder, p Guarantee, n int) {
	s := p.Stories[n]
	if p.Tells(n) {
		fmt.Fprintf(b, "\n%s\n", plain(s.Why))
	}
	fmt.Fprintf(b, "\n%s%s", ticked(s.Name), stated(g.Played(s.Name)))
	for _, again := range g.Again(s.Name) {
		fmt.Fprintf(b, ", %s", plain(again))
	}
	b.WriteString("\n")
	for _, c := range s.Conditions {
		fmt.Fprintf(b, "\n%s\n", plain(c))
	}
	if s.Transcript != "" {
		folded(b, "Transcript", s.Transcript)
	}
	g.markStops(b, s.Stops)
}

func (g Guarantees) markStops(b *strings.Builder, stops []Stopped) {
	for i, s := range stops {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(b, "- stops %s%s: %s\n", ticked(s.Name), stated(g.Stopped(s.Name)), plain(s.Harm))
	}
}

func (g Guarantees) markSituations(b *strings.Builder, c Guaranteed) {
	if len(c.Situations) > 0 {
		b.WriteString("\n### In every order\n\nSituations without an order of their own: their " +
			"commands are played in every order that is possible.\nFewer are than there would be if " +
			"nobody ever waited for a lock; and of orders that must end alike,\nby what their " +
			"commands touch, one is played.\n")
	}
	g.markRows(b, g.Rows(c.Name, c.Situations))
	for _, x := range g.Beside(c) {
		fmt.Fprintf(b, "\n%s: %s\n\n- %s\n", ticked(x.Program), plain(x.Law), markReach(x))
	}
	if len(c.Cuts) > 0 {
		b.WriteString("\n### With every cut\n\nSituations that are cut at each of their commands: " +
			"requests and acknowledgements lost, backends ended,\nstatements cancelled, the " +
			"receiver's process killed. After each cut the sender comes again until it is answered.\n")
	}
	g.markRows(b, g.Rows(c.Name, c.Cuts))
}

func (g Guarantees) markRows(b *strings.Builder, rows []row) {
	for _, r := range rows {
		fmt.Fprintf(b, "\n%s: %s\n\n", ticked(r.Name), plain(r.Law))
		for _, session := range r.Sessions {
			fmt.Fprintf(b, "- %s\n", plain(session))
		}
		for _, x := range r.Came {
			fmt.Fprintf(b, "- %s\n", markReach(x))
		}
		if len(r.Came) == 0 {
			fmt.Fprintf(b, "- %s; played by %s\n", r.Absent, ticked(r.Command))
		}
		g.markStops(b, r.Stops)
	}
}

func markReach(x Explored) string {
	came := state(x.Verdict)
	if x.Held() && x.Left > 0 {
		came += " as far as it was played"
	}
	line := x.Reached() + stated(came)
	if x.Reason != "" {
		line += ": " + plain(x.Reason)
	}
	return line
}

func markLaws(b *strings.Builder, laws []Demand) {
	if len(laws) == 0 {
		return
	}
	b.WriteString("\n### Laws, demanded of the database after every run of these\n")
	for _, law := range laws {
		fmt.Fprintf(b, "\n%s: %s\n", ticked(law.Name), plain(law.Law))
		folded(b, "Rows that this finds are offences", law.SQL)
	}
}

func markList(b *strings.Builder, all []string) {
	for _, text := range all {
		fmt.Fprintf(b, "- %s\n", plain(text))
	}
}

// folded is text that is opened when somebody wants it.
func folded(b *strings.Builder, title, text string) {
	fmt.Fprintf(b, "\n<details><summary>%s</summary>\n%s\n</details>\n", title, fenced(visible(text)))
}

// ticked is a name as code, whatever it holds.
func ticked(name string) string {
	return "`" + strings.ReplaceAll(strings.Join(strings.Fields(visible(name)), " "), "`", "'") + "`"
}

// stated is a state behind a name, nothing without a run.
func stated(state string) string {
	if state == "" {
		return ""
	}
	return " (" + state + ")"
}

// plain is text on one line that is nothing but text.
func plain(text string) string { return cell(visible(text)) }

package report

import (
	"fmt"
	"strings"

	"webhooklab/lab"
)

// markdownFailures is how many failures are told in full: GitHub takes a megabyte of a step.
const markdownFailures = 40

// Markdown is the run as a CI system's summary page shows it: verdict, counts, findings, each
// failure with the line that repeats it, and what the run proves.
func Markdown(r Run) string {
	var b strings.Builder
	code, reason := r.ExitCode()
	fmt.Fprintf(&b, "## webhooklab: %s\n\n%s\n\n", Headline(code), cell(firstLine(reason)))
	server := r.Server
	if server == "" {
		server = "none was reached"
	}
	fmt.Fprintf(&b, "| | |\n|---|---|\n| server | %s |\n| seed | %d |\n%s| time | %s |\n",
		cell(server), r.Seed, optionsRow(r.Options), shortly(r.Elapsed))
	if r.Folder != "" {
		fmt.Fprintf(&b, "| evidence | %s |\n", cell(r.Folder))
	}
	markCounts(&b, r.Judged())
	markFindings(&b, r.Compared)
	markFailures(&b, r)
	var rest strings.Builder
	tellNotRun(&rest, r.Judged())
	tellProof(&rest, r.Judged())
	if rest.Len() > 0 {
		b.WriteString("\n<details><summary>Not run, proved and not proved</summary>\n")
		b.WriteString(fenced(rest.String()) + "\n</details>\n")
	}
	return b.String()
}

func markCounts(b *strings.Builder, entries []Entry) {
	if len(entries) == 0 {
		return
	}
	b.WriteString("\n| suite | held | broken | not judged | not run | runs | overlaps proven |\n" +
		"|---|--:|--:|--:|--:|--:|--:|\n")
	for _, name := range suiteNames(entries) {
		var of []Entry
		for _, e := range entries {
			if e.Suite == name {
				of = append(of, e)
			}
		}
		n, t := count(of), total(of, name)
		fmt.Fprintf(b, "| %s | %d | %d | %d | %d | %s | %s |\n", name, n.valid, n.broken,
			n.unknown+n.noFit, n.notRun, grouped(t.runs), grouped(t.overlaps))
	}
	markExplored(b, entries)
}

// markExplored says of each program how much of it was played, and what was left.
func markExplored(b *strings.Builder, entries []Entry) {
	before := "\n"
	for _, e := range entries {
		if e.Suite == Exploration && e.Detail != "" {
			fmt.Fprintf(b, "%s- explored %s: %s\n", before, cell(e.Name), cell(e.Detail))
			before = ""
		}
	}
}

func markFindings(b *strings.Builder, c Comparison) {
	if !c.Any() {
		return
	}
	against := "there is no earlier run to compare with"
	if c.Baseline != "" {
		against = "compared with " + c.Baseline
	}
	fmt.Fprintf(b, "\n### Findings\n\n%s\n\n| | finding | case | offence | since |\n"+
		"|---|---|---|---|---|\n", cell(against))
	for _, kind := range c.kinds() {
		for _, f := range kind.findings {
			fmt.Fprintf(b, "| %s | `%s` | %s | %s | %s |\n", kind.word, f.Fingerprint,
				cell(f.Suite+" "+f.Name), cell(shortened(f.Offence)), cell(f.Since))
		}
	}
}

func markFailures(b *strings.Builder, r Run) {
	failures := Failures(r.Judged())
	for i, e := range failures {
		if i == markdownFailures {
			fmt.Fprintf(b, "\n…and %s more: see the evidence.\n",
				phrase(len(failures)-i, "failure", "failures"))
			return
		}
		word := "Not judged"
		if e.Verdict == lab.VerdictInvalid {
			word = "Broken"
		}
		fmt.Fprintf(b, "\n### %s: %s %s\n%s", word, cell(e.Suite), cell(e.Name),
			fenced(Told(e, r.Seed)))
	}
	for i, name := range r.Silent() {
		if i == most {
			break
		}
		fmt.Fprintf(b, "\n### Failed without a verdict: %s\n%s", cell(name),
			fenced(r.Outputs[name]))
	}
}

// cell is text as it is, on one line, wherever Markdown or HTML would take it for more.
func cell(text string) string {
	return markEscapes.Replace(Printable(text))
}

var markEscapes = strings.NewReplacer("\\", "\\\\", "|", "\\|", "`", "\\`", "*", "\\*", "_", "\\_",
	"[", "\\[", "]", "\\]", "#", "\\#", "~", "\\~", "@", "&#64;", "<", "&lt;", ">", "&gt;",
	"&", "&amp;", "\r", " ", "\n", " ")

// fenceBound is how much of one text is shown, in bytes.
const fenceBound = 16 << 10

// fenced is text in a block that nothing in it can end.
func fenced(text string) string {
	text = strings.Trim(Printable(text), "\n")
	if len(text) > fenceBound {
		text = strings.ToValidUTF8(text[:fenceBound], "") + "\n…"
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return "\n" + fence + "text\n" + text + "\n" + fence + "\n"
}

// optionsRow says that the run was less than a whole one, and by which options.
func optionsRow(options string) string {
	if options == "" {
		return ""
	}
	return "| options | " + cell(options) + " (not a whole run) |\n"
}

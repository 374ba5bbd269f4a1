package report

import (
	"fmt"
	"strings"

	"webhooklab/lab"
)

// drawBands draws what belongs to no lane: the lab's own acts, and the rows after each commit.
func (t *timeline) drawBands(b *strings.Builder) {
	for _, m := range t.moments {
		switch m.kind {
		case markMade:
			t.drawMark(b, m)
		case rowsRead:
			t.drawRows(b, m)
		}
	}
}

// stopped is how the mark begins that tells where a play was ended by its first error.
const stopped = "stopped: "

func (t *timeline) drawMark(b *strings.Builder, m moment) {
	mark := t.trace.Marks[m.index]
	first, ended := strings.CutPrefix(mark.Text, stopped)
	fmt.Fprintf(b, `<g><title>%s</title>`, clean(mark.Text+" (at "+ms(mark.At)+")"))
	switch {
	case ended:
		fmt.Fprintf(b, `<rect id="%s-stop" class="stop" y="%d" width="100%%" height="%d"/>`,
			t.id, y(m.line), lineHeight-2)
		words(b, "stop", m.line, 3, "✕ "+brief(first, 160))
	case mark.Fault:
		fmt.Fprintf(b, `<rect class="blow" y="%d" width="100%%" height="%d"/>`, y(m.line), lineHeight-2)
		words(b, "", m.line, 3, "✕ "+brief(mark.Text, 160))
	default:
		words(b, "mark", m.line, 3, "("+brief(mark.Text, 160)+")")
	}
	b.WriteString("</g>\n")
}

func (t *timeline) drawRows(b *strings.Builder, m moment) {
	rows, changes := t.trace.Rows[m.index], t.changes(m.index)
	after := t.trace.Commands[rows.After]
	head := "rows after " + after.Label + " of " + after.Session + ": "
	if len(changes) == 0 {
		head += "unchanged"
	} else {
		head += counted(rows)
	}
	fmt.Fprintf(b, `<g><title>%s</title><rect class="rows" y="%d" width="100%%" height="%d"/>`,
		clean("read at "+ms(rows.At)+" · "+counted(rows)), y(m.line), m.lines*lineHeight-2)
	words(b, "dim", m.line, 3, head)
	for i, change := range changes {
		words(b, "row", m.line+1+i, 12, brief(change, 200))
	}
	b.WriteString("</g>\n")
}

// drawWaits draws an arrow from each waiter to everybody that it waits for, with the lock below it.
func (t *timeline) drawWaits(b *strings.Builder) {
	for _, m := range t.moments {
		if m.kind != waited {
			continue
		}
		w := t.trace.Waits[m.index]
		fmt.Fprintf(b, `<g class="wait"><title>%s</title>`, clean(waitTitle(w)))
		left := t.middle(w.Session)
		for _, holder := range w.For {
			left = min(left, t.middle(holder))
			t.drawArrow(b, m.line, t.middle(w.Session), t.middle(holder))
		}
		for i, text := range waitText(w) {
			fmt.Fprintf(b, `<svg x="%s%%" overflow="visible"><text x="8" y="%d">%s</text></svg>`,
				number(max(0, left-50/float64(t.tracks()))), y(m.line+1+i)+textDrop, clean(text))
		}
		b.WriteString("</g>\n")
	}
}

// middle is where an arrow meets the lane of a session, in percent of the width. Who has no lane is
// outside, at the left.
func (t *timeline) middle(session string) float64 {
	l := t.lanes[session]
	if l == nil {
		return 0
	}
	return 100 * (float64(l.first) + float64(l.tracks)/2) / float64(t.tracks())
}

func (t *timeline) drawArrow(b *strings.Builder, line int, from, to float64) {
	at := y(line) + lineHeight/2
	head := "M0 0l8 -4v8z"
	if from < to {
		head = "M0 0l-8 -4v8z"
	}
	fmt.Fprintf(b, `<line x1="%s%%" x2="%s%%" y1="%d" y2="%d"/>`, number(from), number(to), at, at)
	fmt.Fprintf(b, `<circle cx="%s%%" cy="%d" r="3"/>`, number(from), at)
	fmt.Fprintf(b, `<svg x="%s%%" y="%d" overflow="visible"><path d="%s"/></svg>`,
		number(to), at, head)
}

func number(f float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", f), "0"), ".")
}

func waitTitle(w lab.TracedWait) string {
	text := fmt.Sprintf("%s of %s waits for %s: %s", w.Command, w.Session, joinNames(w.For), w.Wait)
	if w.Wait.XID != "" {
		text += fmt.Sprintf(", transaction %s", w.Wait.XID)
	}
	text += " · proved at " + ms(w.From)
	if w.To > 0 {
		text += ", over at " + ms(w.To)
	}
	return text
}

// joinNames gives each name once.
func joinNames(names []string) string {
	seen := map[string]bool{}
	var all []string
	for _, n := range names {
		if !seen[n] {
			seen[n] = true
			all = append(all, n)
		}
	}
	return strings.Join(all, ", ")
}

// relationOf is the relation that a label names: the last word of "INSERT webhook_inbox".
func relationOf(label string) string {
	if strings.HasPrefix(label, "BATCH ") {
		return ""
	}
	_, relation, _ := strings.Cut(label, " ")
	if strings.Contains(relation, " ") {
		return ""
	}
	return relation
}

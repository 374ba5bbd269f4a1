package report

import (
	"fmt"
	"html"
	"strings"
	"time"

	"webhooklab/lab"
)

// Heights are in CSS pixels. Widths are percentages, so that a timeline fits its reader's window;
// if a track would be narrower than its longest label, the frame scrolls instead.
const (
	lineHeight = 18
	textDrop   = 13 // from the top of a line to the foot of its letters
)

// trackWidth is what the longest label takes with its number, in em of a fixed-width font. Of the
// longest ones, batches of many statements, the end may be cut off.
func (t *timeline) trackWidth() float64 {
	most := 12
	for _, c := range t.trace.Commands {
		if shownCommand(c) {
			most = max(most, len(c.Label)+len(fmt.Sprint(c.Step))+1, len(shortFault(c.Fault))+2)
		}
	}
	return float64(min(most, longLabel))*0.605 + 1.5
}

const longLabel = 44

// svg draws the timeline. It writes the same bytes for the same trace.
func (t *timeline) svg() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="timeline" role="img" aria-label="timeline of %s" width="100%%"`+
		` height="%d"`, clean(joinNames(t.trace.Sessions)), t.lines*lineHeight+4)
	fmt.Fprintf(&b, ` style="min-width:%.0fem">`+"\n", float64(t.tracks())*t.trackWidth())
	for _, name := range t.trace.Sessions {
		t.drawLane(&b, name)
	}
	t.drawOperations(&b)
	t.drawBands(&b)
	t.drawWaits(&b)
	b.WriteString("</svg>\n")
	return b.String()
}

func clean(text string) string { return html.EscapeString(visible(text)) }

func y(line int) int { return line*lineHeight + 2 }

func (t *timeline) percent(tracks int) string {
	return strings.TrimSuffix(fmt.Sprintf("%.2f", 100*float64(tracks)/float64(t.tracks())), ".00") + "%"
}

// drawLane draws one session's commands, track by track.
func (t *timeline) drawLane(b *strings.Builder, name string) {
	l := t.lanes[name]
	fmt.Fprintf(b, `<svg x="%s" width="%s">`, t.percent(l.first), t.percent(l.tracks))
	b.WriteString(`<line class="edge" x1="0" x2="0" y1="0" y2="100%"/>` + "\n")
	for track := range l.tracks {
		if l.tracks > 1 {
			fmt.Fprintf(b, `<svg x="%g%%" width="%g%%">`,
				100*float64(track)/float64(l.tracks), 100/float64(l.tracks))
		}
		for _, s := range l.spans {
			if s.track == track {
				t.drawSpan(b, s)
			}
		}
		if l.tracks > 1 {
			b.WriteString("</svg>")
		}
	}
	b.WriteString("</svg>\n")
}

// drawOperations writes what sessions are told to do, and what they answer. Nobody else has words
// on these lines, so that they may run on into the lanes beside them.
func (t *timeline) drawOperations(b *strings.Builder) {
	for _, m := range t.moments {
		if m.kind != began && m.kind != ended {
			continue
		}
		o := t.trace.Operations[m.index]
		text, title := "=> "+t.trace.Plain(o.Answer), answered(t.trace, o)
		if m.kind == began {
			text, title = o.Session+": "+t.trace.Plain(o.What), o.What+" at "+ms(o.Began)
		}
		fmt.Fprintf(b, `<svg x="%s" overflow="visible"><title>%s</title>`,
			t.percent(t.lanes[o.Session].first), clean(title))
		words(b, "op", m.line, 3, brief(text, 200))
		b.WriteString("</svg>\n")
	}
}

func answered(trace *lab.Trace, o lab.TracedOperation) string {
	text := "at " + ms(o.Ended) + ", after " + ms(o.Ended-o.Began)
	if o.Error != "" {
		text += ": " + trace.Plain(o.Error)
	}
	return text
}

func (t *timeline) drawSpan(b *strings.Builder, s *span) {
	if s.transaction {
		class, title := "tx", "a transaction that committed"
		if s.lost {
			class, title = "tx lost", "a transaction that did not commit"
		}
		fmt.Fprintf(b, `<rect class="%s" x="1" y="%d" width="98%%" height="%d" rx="4"><title>%s`+
			"</title></rect>\n", class, y(s.from)-1, (s.to-s.from+1)*lineHeight, title)
	}
	for _, i := range s.commands {
		t.drawCommand(b, i)
	}
}

// drawCommand draws a bar from the sending of a command to its answer, and before it, dashed, the
// time in which it was held while others went on.
func (t *timeline) drawCommand(b *strings.Builder, i int) {
	c := t.trace.Commands[i]
	from, to := t.extent(i)
	if n := t.sql.number(t.trace, c); n > 0 {
		fmt.Fprintf(b, `<a href="#sql-%d">`, n)
		defer b.WriteString("</a>\n")
	}
	fmt.Fprintf(b, "<title>%s</title>", clean(t.title(c)))
	if t.held[i] >= 0 {
		until := to
		if t.sent[i] >= 0 {
			until = t.sent[i] - 1
		}
		bar(b, "held", from, until)
		words(b, "dim", t.held[i], 8, "held before "+c.Label)
		if from = until + 1; t.sent[i] < 0 && t.over[i] < 0 {
			return // it never left
		}
	}
	if t.sent[i] < 0 {
		from = t.over[i] - 1
	}
	bar(b, class(c), from, to)
	if t.waits[i] >= 0 {
		bar(b, "waiting", t.waits[i], to-1)
	}
	fmt.Fprintf(b, `<text x="8" y="%d">`, y(from)+textDrop)
	if c.Step > 0 {
		fmt.Fprintf(b, `<tspan class="dim">%d</tspan> `, c.Step)
	}
	fmt.Fprintf(b, "%s</text>", clean(c.Label))
	switch {
	case c.Fault != "":
		words(b, "struck", to, 8, "✕ "+shortFault(c.Fault))
	case t.over[i] >= 0:
		words(b, "", to, 8, outcome(c))
	}
}

func class(c lab.TracedCommand) string {
	switch {
	case c.Fault != "":
		return "fault"
	case c.Answer.SQLState != "":
		return "error"
	case c.Answer.Committed():
		return "commit"
	}
	return "bar"
}

// outcome is what became of a command, as transcripts show it.
func outcome(c lab.TracedCommand) string {
	if c.Answer.SQLState != "" {
		return "→ ERROR " + c.Answer.SQLState
	}
	return "→ " + strings.Join(c.Answer.Tags, ", ")
}

// shortFault fits into a lane; the title has all of it.
func shortFault(fault string) string {
	fault, _, _ = strings.Cut(fault, ":")
	return strings.ReplaceAll(fault, "acknowledgement", "ack")
}

func (t *timeline) title(c lab.TracedCommand) string {
	var parts []string
	if c.Step > 0 {
		parts = append(parts, fmt.Sprintf("step %d", c.Step))
	}
	if c.Fault != "" {
		parts = append(parts, c.Fault)
	}
	for _, when := range []struct {
		what string
		at   time.Duration
	}{{"held", c.Held}, {"sent", c.Sent}, {"answered", c.Answered}, {"struck", c.Struck}} {
		if when.at > 0 {
			parts = append(parts, when.what+" "+ms(when.at))
		}
	}
	if c.Sent > 0 && c.End() > 0 {
		parts = append(parts, "took "+ms(c.End()-c.Sent))
	}
	parts = append(parts, fmt.Sprintf("connection %d", c.Conn))
	if args := arguments(t.trace, c); args != "" {
		parts = append(parts, "arguments: "+brief(args, 200))
	}
	return strings.Join(parts, " · ")
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000) }

func bar(b *strings.Builder, class string, from, to int) {
	fmt.Fprintf(b, `<rect class="%s" x="4" y="%d" width="96%%" height="%d" rx="3"/>`,
		class, y(from), (to-from+1)*lineHeight-2)
}

func words(b *strings.Builder, class string, line, x int, text string) {
	b.WriteString("<text")
	if class != "" {
		fmt.Fprintf(b, ` class="%s"`, class)
	}
	fmt.Fprintf(b, ` x="%d" y="%d">%s</text>`, x, y(line)+textDrop, clean(text))
}

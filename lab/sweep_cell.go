package lab

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// A Fate is what became of the transaction that was cut.
type Fate string

const (
	Committed Fate = "committed"
	Aborted   Fate = "aborted"
	ReadOnly  Fate = "read-only" // it had changed nothing that could be lost
	Untold    Fate = "unknown"
)

// A Cell is one fault at one command, and all that came of it.
type Cell struct {
	Place    int // of the command in the run, from 1
	Session  string
	Command  string // its label
	Fault    Fault
	Other    string `json:",omitempty"` // where the second session stood
	None     string `json:",omitempty"` // why there is no such cell
	Fate     Fate
	Evidence string // what says so
	Learned  string // by the sender whose act was cut
	Again    string `json:",omitempty"` // what it was told when it came again, "" if it did not
	Tries    int    // how often it came again
	Answers  string `json:",omitempty"` // of all senders in the end, where there are two
	Left     string // what was left in the end, against a run without faults
	Verdict  Verdict
	Offences []Offence `json:",omitempty"`
	Schedule Schedule

	Transcript string        `json:"-"`
	Elapsed    time.Duration `json:"-"`
}

// doubt makes a cell unknown.
func (c *Cell) doubt(format string, args ...any) {
	c.accuse(VerdictUnknown, "", fmt.Sprintf(format, args...))
}

func (c *Cell) accuseAll(all []Offence) {
	for _, o := range all {
		c.accuse(o.Verdict, o.Law, o.Text)
	}
}

func (c *Cell) accuse(v Verdict, law, text string) {
	c.Verdict = max(c.Verdict, v)
	c.Offences = append(c.Offences, Offence{Verdict: v, Law: law, Text: text})
}

// cell runs one cell. It is not reached when the program ended before the place.
func (w *sweep) cell(ctx context.Context, l *Lab, cut cutAt) (c Cell, reached bool) {
	if cut.fault.killsReceiver() {
		defer l.dismiss(redelivery) // whoever comes again finds a process started anew
	}
	d := &cutter{lab: l, cut: cut}
	h := &healer{lab: l, want: w.want, answers: w.clean.answers}
	done, state := l.playHealed(ctx, w.want.Program, d, h)
	c = l.told(cut, d.at, w.want.Program, done)
	if !d.reached {
		return c, false
	}
	l.hindsight(&c, &d.what)
	c.judge(verdictOf{w.clean, d, h, state})
	return c, true
}

// hindsight asks what became of a transaction that outlived the fault.
func (l *Lab) hindsight(c *Cell, what *truth) {
	if what.xid == "" || what.status != "" {
		return
	}
	var err error
	if what.status, err = l.observer.status(l.ctx, what.xid); err != nil {
		c.doubt("ask what became of transaction %s: %v", what.xid, err)
	}
	if what.status == "in progress" {
		c.doubt("transaction %s has no end", what.xid)
	}
}

// told is a cell before its judgement.
func (l *Lab) told(cut cutAt, at point, p Program, done played) Cell {
	return Cell{
		Place: cut.place, Session: at.step.Session, Command: at.step.What, Fault: cut.fault,
		Fate: Untold, Verdict: done.report.Verdict, Offences: done.report.Offences,
		Schedule:   Schedule{Program: p.Name, Seed: l.cfg.Seed, Steps: done.steps},
		Transcript: done.report.Transcript, Elapsed: done.report.Elapsed,
	}
}

// verdictOf is what a cell is judged by.
type verdictOf struct {
	clean  clean
	cutter *cutter
	healer *healer
	state  string
}

func (c *Cell) judge(by verdictOf) {
	if c.Verdict == VerdictNotRun {
		c.None, c.Verdict, c.Offences = c.Offences[0].Text, VerdictValid, nil
		c.Fate, c.Schedule = "", Schedule{}
		return
	}
	if c.Verdict == VerdictUnknown {
		return // it stopped half way
	}
	d, h := by.cutter, by.healer
	if c.Place <= len(by.clean.points) {
		if want := by.clean.points[c.Place-1]; want.step != d.at.step || want.act != d.at.act {
			c.doubt("command %d was %s without the fault, and is %s now",
				c.Place, want.step, d.at.step)
			return
		}
	}
	c.accuseAll(d.broken)
	c.decide(by)
	c.Learned, c.Again = h.learned[d.at.act], h.first[d.at.act]
	c.Tries = h.tries[d.at.act]
	c.leaves(d.lab.cfg.State, by.clean.state, by.state)
	c.acked(by)
	c.fits(by)
}

// decide finds out what became of the transaction: from the server's word on it, and from what
// everybody can see. Neither may gainsay the other.
func (c *Cell) decide(by verdictOf) {
	d := by.cutter
	before, after := by.clean.before(c.Place), by.clean.after(c.Place)
	seen := d.at.seen
	c.Fate = Fate(d.what.status)
	c.Evidence = "pg_xact_status, rows"
	switch {
	case seen != before && seen != after:
		c.Fate = Untold
		c.doubt("what everybody can see is neither what it was before the command nor behind it:\n%s",
			seen)
	case d.what.xid == "" && before == after:
		c.Fate, c.Evidence = ReadOnly, "no transaction id, rows"
	case d.what.xid == "" && seen == after:
		c.Fate, c.Evidence = Committed, "rows"
	case d.what.xid == "":
		c.Fate, c.Evidence = Aborted, "rows"
	case c.Fate == Committed && seen != after || c.Fate == Aborted && seen != before:
		c.doubt("the server says %s of transaction %s, and the rows say otherwise:\n%s",
			c.Fate, d.what.xid, seen)
	}
}

// acked: whoever is answered without faults is answered in the end with one.
func (c *Cell) acked(by verdictOf) {
	for i, last := range by.healer.last {
		if comeAgain(last) && !comeAgain(by.healer.expected(i)) {
			c.accuse(VerdictInvalid, "a sender that comes again is answered in the end",
				fmt.Sprintf("it came again %d times and was told %q", by.healer.tries[i], last))
		}
	}
}

// fits holds the first redelivery against what the cut act has left: nothing of it, and the
// redelivery is as if it had never been; all of it, and the redelivery is a copy like any other.
func (c *Cell) fits(by verdictOf) {
	act, h := by.cutter.at.act, by.healer
	if c.Again == "" || act != len(h.last)-1 || comeAgain(h.expected(act)) {
		return
	}
	none, all := by.clean.whole(act)
	first, copied := by.clean.answers[act], by.clean.repeats[act]
	seen := by.cutter.at.seen
	switch {
	case none == all:
	case seen == none && c.Again != first:
		c.accuse(VerdictInvalid, "what was not committed never was",
			fmt.Sprintf("nothing of it was stored, and the redelivery was told %q, not %q",
				c.Again, first))
	case seen == all && c.Again != copied:
		c.accuse(VerdictInvalid, "what was committed is not done again",
			fmt.Sprintf("all of it was stored, and the redelivery was told %q, not %q as a copy is",
				c.Again, copied))
	}
}

// leaves holds what was left in the end against what a run without faults leaves: nothing that was
// asked for is missing, nothing is there twice.
func (c *Cell) leaves(shown State, want, got string) {
	var parts, bad []string
	old, now := byTable(want), byTable(got)
	for _, t := range shown {
		a, b := old[t.Name], now[t.Name]
		if strings.Join(a, "\n") == strings.Join(b, "\n") {
			continue
		}
		part := t.Name + " differ"
		if len(a) != len(b) {
			part = fmt.Sprintf("%s %d→%d", t.Name, len(a), len(b))
		}
		if parts = append(parts, part); t.Once {
			bad = append(bad, part)
		}
	}
	c.Left = "as once"
	if len(parts) > 0 {
		c.Left = strings.Join(parts, ", ")
	}
	if len(bad) > 0 {
		c.accuse(VerdictInvalid, "what was cut ends as if it had not been",
			"against a run without faults: "+strings.Join(bad, ", ")+"\n"+got)
	}
}

// byTable sorts the lines of a state by the tables that they are of.
func byTable(state string) map[string][]string {
	rows := map[string][]string{}
	for _, line := range strings.Split(strings.TrimSpace(state), "\n") {
		table, _, _ := strings.Cut(line, " ")
		rows[table] = append(rows[table], line)
	}
	return rows
}

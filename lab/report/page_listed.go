package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"webhooklab/lab"
)

// listBound is how many orders, or crash points, of one program the page lists. All of them are in
// explored.jsonl, beside it.
const listBound = 40

// A program is one explored program as the page shows it: its counts, and folded below them what
// they count.
type program struct {
	Explored
	Lists  []orders
	Points points
}

func programsOf(all []Explored) (shown []program) {
	for _, x := range all {
		p := program{Explored: x, Points: pointsOf(x)}
		p.add(x, "")
		if x.Control != nil {
			p.add(*x.Control, ", without gates")
		}
		shown = append(shown, p)
	}
	return shown
}

func (p *program) add(x Explored, how string) {
	if len(x.Listed) > 0 {
		p.Lists = append(p.Lists, ordersOf(x, how))
	}
}

// Folded tells that there is something to unfold: evidence of an earlier version has only counts.
func (p program) Folded() bool { return len(p.Lists) > 0 || len(p.Points.Rows) > 0 }

// orders is a list of orders, each with what its senders were told, and what that left in the
// tables: many leave the same.
type orders struct {
	Title, Beside string
	Rows          []orderRow
	Left          []leftRows // of Rows
	More          string
}

type orderRow struct {
	Number  int // in the order of the runs
	Line    string
	Drawn   bool
	Answers string
	Left    int // the number of a leftRows
	Verdict lab.Verdict
}

// A leftRows is what some orders have left in the tables.
type leftRows struct {
	Number int // from 1, in the order in which they first came
	After  int // so many orders
	Rows   string
}

func (l leftRows) Title() string {
	return fmt.Sprintf("Rows %d, left by %s", l.Number, phrase(l.After, "order", "orders"))
}

func ordersOf(x Explored, how string) orders {
	all, left := x.rows()
	o := orders{Title: x.titled() + how, Beside: x.beside()}
	o.Rows, o.More = bounded(all, "more order", "more orders")
	for _, l := range left {
		if slices.ContainsFunc(o.Rows, func(r orderRow) bool { return r.Left == l.Number }) {
			o.Left = append(o.Left, l)
		}
	}
	if n := len(left) - len(o.Left); n > 0 {
		o.More += fmt.Sprintf(", and the %s that only they left", phrase(n, "set of rows", "sets of rows"))
	}
	return o
}

// rows are all orders, and all that they have left.
func (x Explored) rows() (all []orderRow, left []leftRows) {
	number := map[string]int{}
	for i, o := range x.Listed {
		end := lab.End{State: "?"} // of a line that somebody has cut
		if o.End >= 0 && o.End < len(x.Ends) {
			end = x.Ends[o.End]
		}
		if number[end.State] == 0 {
			left = append(left, leftRows{Number: len(left) + 1, Rows: end.State})
			number[end.State] = len(left)
		}
		n := number[end.State]
		left[n-1].After++
		all = append(all, orderRow{Number: i + 1, Line: o.Line, Drawn: o.Drawn,
			Answers: end.Answers, Left: n, Verdict: o.Verdict})
	}
	return all, left
}

// titled says how many orders there are, and in how many ways they end.
func (x Explored) titled() string {
	drawn := 0
	for _, o := range x.Listed {
		if o.Drawn {
			drawn++
		}
	}
	text := phrase(len(x.Listed)-drawn, "order", "orders")
	if drawn > 0 {
		text += fmt.Sprintf(" and %s drawn at random", grouped(drawn))
	}
	return text + ", " + phrase(len(x.Ends), "end", "different ends")
}

// beside says what the listed orders stand for, and what they don't.
func (x Explored) beside() string {
	var parts []string
	add := func(n int, one, many, how string) {
		if n > 0 {
			parts = append(parts, phrase(n, one, many)+" "+how)
		}
	}
	add(x.Pruned-x.GivenUp, "branch", "branches", "never entered as equivalent")
	add(x.GivenUp, "order", "orders", "given up half way as equivalent")
	add(x.Left, "branch", "branches", "left")
	if len(parts) == 0 {
		return ""
	}
	return "Beside them: " + strings.Join(parts, ", ") + "."
}

// points is a list of crash points.
type points struct {
	Title string
	Pair  bool // of two sessions: one is cut, the other stands somewhere
	Rows  []CrashPoint
	More  string
}

func pointsOf(x Explored) (p points) {
	none := 0
	for _, c := range x.CrashPoints {
		p.Pair = p.Pair || c.Other != ""
		if c.None != "" {
			none++
		}
	}
	p.Title = phrase(len(x.CrashPoints), "crash point", "crash points")
	if none > 0 {
		p.Title += fmt.Sprintf(", of which %s cannot exist", grouped(none))
	}
	p.Rows, p.More = bounded(x.CrashPoints, "more crash point", "more crash points")
	return p
}

func (r orderRow) verdict() lab.Verdict   { return r.Verdict }
func (c CrashPoint) verdict() lab.Verdict { return c.Verdict }

type judged interface{ verdict() lab.Verdict }

// bounded are the first of a list, what did not hold before all others, and what is said of the
// rest.
func bounded[T judged](all []T, one, many string) (some []T, more string) {
	some = slices.Clone(all)
	slices.SortStableFunc(some, func(a, b T) int { return cmp.Compare(b.verdict(), a.verdict()) })
	if len(some) <= listBound {
		return some, ""
	}
	rest := some[listBound:]
	how := "none of which failed"
	if rest[0].verdict() != lab.VerdictValid {
		how = "some of which failed"
	}
	return some[:listBound], fmt.Sprintf("%s, %s: the program's line in %s, beside this page, has "+
		"all %s", phrase(len(rest), one, many), how, explored, grouped(len(all)))
}

package lab

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"sync/atomic"
	"time"

	"webhooklab/lab/postgres"
)

// An Exploration says what to run in every order, and how far.
type Exploration struct {
	Program Program
	Whole   bool          // without reduction: also orders that must end alike
	Budget  int           // schedules; 0: until the tree is exhausted
	Time    time.Duration // 0: no bound
	Samples int           // random schedules once the budget is spent
	First   []Schedule    // what failed before goes first
	Gated   bool          // statements are stopped inside PostgreSQL too, before each row they write
	Audit   int           // run each schedule so many times more and name what varied
	Stop    int           // after so many failures; 0: 5
	List    bool          // keep each order that was run, with how it ended

	Shard, Shards int // shard 1 … Shards; 0 is the whole

	Progress func(Explored) // told now and then
}

// Explored is what came of an exploration: counts that add up, and every failure found.
type Explored struct {
	Program string
	Law     string
	Verdict Verdict

	Orders   *big.Int // of the steps, were none of them ever to wait
	Explored int      // schedules run to their end
	Cut      int      // schedules given up because others are equivalent
	Pruned   int      // branches never entered because others are equivalent
	Left     int      // branches known and not entered
	Sampled  int      // schedules drawn at random beyond the budget
	Choices  int      // places where PostgreSQL had a choice of its own
	Gates    int      // times a statement stood at a gate inside PostgreSQL
	Restarts int      // times it began anew, as a footprint had to be widened; may vary
	Bound    string   // what the samples are worth, in words
	Reduced  bool

	Outcomes map[string]int // answers → schedules
	States   map[string]int // answers and what was left in the tables → schedules
	Listed   []Order        // of a List: what Outcomes and States count, in the order of the runs
	Ends     []End          // that these came to
	Failures []Failure
	Audited  int      // schedules run once more by an audit
	Varied   []string // what an audit saw differ
	Outrun   int      // runs in vain: PostgreSQL made a choice before it was made for it
	Elapsed  time.Duration
}

// A Failure is one schedule that broke something.
type Failure struct {
	Schedule Schedule
	Report   Report
	Shrunk   *Schedule // the smallest that still breaks the same; nil: not tried
}

// Line is the schedule that shows it again, the shrunk one if there is one.
func (f Failure) Line() string {
	if f.Shrunk != nil {
		return f.Shrunk.String()
	}
	return f.Schedule.String()
}

// Complete says whether every order was run or is equivalent to one that was.
func (e Explored) Complete() bool { return e.Left == 0 && e.Verdict != VerdictNotRun }

// An explorer is an exploration in progress.
type explorer struct {
	lab    *Lab
	want   Exploration
	crew   *crew
	tree   *tree
	prints *footprinter // nil: without reduction
	known  int          // failures of before the tree
	sent   []*run       // chosen and not entered, the oldest first
	done   Explored
	batch  []*leaf
	began  time.Time
	told   time.Time
	steps  map[string]int // most steps that a session has needed

	outrun atomic.Int64
}

// A leaf is one schedule that has run and waits for its judgement.
type leaf struct {
	played
	lab      *Lab // that played it
	schedule Schedule
	again    []*leaf // the same schedule once more, for an audit
	drawn    bool    // at random
	judged   bool    // by the laws, and its state is read
	state    string
}

// Explore runs a program in every order that is possible, and judges each. Blocked sessions are
// never scheduled, so that no impossible order is ever asked for.
func (l *Lab) Explore(ctx context.Context, want Exploration) Explored {
	x := l.explorer(want)
	if err := l.placeGates(ctx, want.Gated); err != nil {
		return x.unknown("%v", err)
	}
	x.again(ctx)
	x.known = len(x.done.Failures)
	if err := x.openPrints(ctx); err != nil {
		return x.unknown("%v", err)
	}
	crash := slices.Contains(want.Program.Needs, postgres.Crash)
	x.crew = l.gather(crash, func(twin *Lab) error { return twin.placeGates(ctx, want.Gated) })
	defer x.crew.dismiss()
	x.systematic(ctx)
	x.random(ctx)
	x.judge(ctx)
	return x.finished(ctx)
}

// explorer is an explorer that has run nothing yet.
func (l *Lab) explorer(want Exploration) *explorer {
	if want.Stop == 0 {
		want.Stop = 5
	}
	return &explorer{
		lab: l, want: want, began: time.Now(), steps: map[string]int{},
		done: Explored{Program: want.Program.Name, Law: want.Program.Law, Reduced: !want.Whole,
			Outcomes: map[string]int{}, States: map[string]int{}},
	}
}

// openPrints has the footprinter at hand, for reduced explorations only.
func (x *explorer) openPrints(ctx context.Context) (err error) {
	l := x.lab
	if x.want.Whole {
		return nil
	}
	if l.printer == nil || l.printer.conn.Ping(ctx) != nil {
		l.closePrints()
		if l.printer, err = openFootprinter(ctx, l.cfg); err != nil {
			return err
		}
	}
	l.printer.begin()
	x.prints = l.printer
	return nil
}

func (l *Lab) closePrints() {
	if l.printer != nil {
		l.printer.close()
		l.printer = nil
	}
}

// batchSize grows, as what is broken mostly shows early.
func (x *explorer) batchSize() int {
	if x.lab.cfg.Reset != "" {
		return 1
	}
	return min(200, 25+(x.done.Explored+x.done.Cut+x.done.Audited)/2)
}

// count keeps the greatest number of steps that each session has needed.
func (x *explorer) count(s Schedule) {
	n := map[string]int{}
	for _, step := range s.Steps {
		if step.Kind != StepWake && step.Kind != StepDies {
			n[step.Session]++
		}
	}
	for name, k := range n {
		x.steps[name] = max(x.steps[name], k)
	}
}

// enough: the budget is spent, the time is over, or enough is broken.
func (x *explorer) enough(ctx context.Context) bool {
	w := x.want
	return ctx.Err() != nil || len(x.done.Failures) >= w.Stop ||
		w.Budget > 0 && x.done.Explored+x.done.Cut+len(x.sent) >= w.Budget ||
		w.Time > 0 && time.Since(x.began) > w.Time
}

func (x *explorer) tell() {
	if x.want.Progress != nil && time.Since(x.told) > time.Second/4 {
		x.told = time.Now()
		x.want.Progress(x.snapshot())
	}
}

func (x *explorer) snapshot() Explored {
	now := x.done
	now.Elapsed = time.Since(x.began)
	now.Left = x.tree.left()
	return now
}

func (x *explorer) finished(ctx context.Context) Explored {
	d := &x.done
	d.Left = x.tree.left() + x.tree.lost + x.tree.unseen()
	if ctx.Err() != nil {
		return x.unknown("the exploration was interrupted: %v", context.Cause(ctx))
	}
	d.Outrun = int(x.outrun.Load())
	d.Pruned, d.Choices = x.tree.pruned, len(x.tree.choices)
	d.Orders = orders(x.steps)
	for _, f := range d.Failures {
		d.Verdict = max(d.Verdict, f.Report.Verdict)
	}
	if d.Explored == 0 && d.Verdict == VerdictValid && x.want.Shards < 2 {
		return x.unknown("no schedule came to its end: nothing was put to the test")
	}
	if x.want.Gated && d.Gates == 0 && d.Verdict == VerdictValid && x.want.Shards < 2 {
		return x.unknown("no statement ever stood at a gate: nothing was put to the test")
	}
	d.Elapsed = time.Since(x.began)
	return *d
}

func (x *explorer) unknown(format string, args ...any) Explored {
	x.done.Verdict = VerdictUnknown
	r := unknown(x.want.Program, fmt.Errorf(format, args...))
	x.done.Failures = append(x.done.Failures, Failure{Report: r})
	x.done.Elapsed = time.Since(x.began)
	return x.done
}

// unknown is the report of a program that could not be played.
func unknown(p Program, why error) Report {
	return Report{Scenario: p.Name, Law: p.Law, Verdict: VerdictUnknown,
		Offences: []Offence{{Verdict: VerdictUnknown, Text: why.Error()}}}
}

// orders is how many orders there are of sessions with so many steps each: the multinomial.
func orders(steps map[string]int) *big.Int {
	total, result := 0, big.NewInt(1)
	for _, n := range steps {
		for i := 1; i <= n; i++ {
			total++
			result.Mul(result, big.NewInt(int64(total)))
			result.Div(result, big.NewInt(int64(i)))
		}
	}
	return result
}

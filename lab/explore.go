package lab

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"sync/atomic"
	"time"
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
	Restarts int      // explorations begun anew because a footprint had to be widened
	Bound    string   // what the samples are worth, in words
	Reduced  bool

	Outcomes map[string]int // answers → schedules
	States   map[string]int // answers and what was left in the tables → schedules
	Failures []Failure
	Audited  int      // schedules run once more by an audit
	Outrun   int      // … of which PostgreSQL made a choice first, so that they were run again
	Varied   []string // what an audit saw differ
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
	lab   *Lab
	want  Exploration
	crew  *crew
	tree  *tree
	sent  []*run // chosen and not entered, the oldest first
	done  Explored
	batch []*leaf
	began time.Time
	told  time.Time
	steps map[string]int // most steps that a session has needed

	outrun atomic.Int64
}

// A leaf is one schedule that has run and waits for its judgement.
type leaf struct {
	played
	lab      *Lab // that played it
	schedule Schedule
	again    []*leaf // the same schedule once more, for an audit
	judged   bool    // by the laws, and its state is read
	state    string
}

// Explore runs a program in every order that is possible, and judges each. Blocked sessions are
// never scheduled, so that no impossible order is ever asked for.
func (l *Lab) Explore(ctx context.Context, want Exploration) Explored {
	x := l.explorer(want)
	if err := l.openPrints(ctx, want); err != nil {
		return x.unknown("%v", err)
	}
	if err := l.placeGates(ctx, want.Gated); err != nil {
		return x.unknown("%v", err)
	}
	x.again(ctx)
	x.crew = l.gather(func(twin *Lab) error {
		twin.prints = l.prints
		return twin.placeGates(ctx, want.Gated)
	})
	defer x.disband()
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
func (l *Lab) openPrints(ctx context.Context, want Exploration) (err error) {
	l.prints = nil
	if want.Whole {
		return nil
	}
	if l.printer == nil || l.printer.conn.IsClosed() {
		if l.printer, err = openFootprinter(ctx, l.cfg); err != nil {
			return err
		}
	}
	l.printer.begin()
	l.prints = l.printer
	return nil
}

func (l *Lab) closePrints() {
	if l.printer != nil {
		l.printer.close()
	}
	l.prints, l.printer = nil, nil
}

// systematic goes through the tree until it is exhausted, the budget spent, or enough is broken.
func (x *explorer) systematic(ctx context.Context) {
	x.plant()
	for {
		x.choose(ctx)
		r := x.oldest()
		if r == nil {
			return
		}
		x.enterWalk(ctx, r)
		if p := x.lab.prints; p != nil && p.hasLearned() {
			x.restart()
		}
	}
}

// choose sends runs out until enough are under way.
func (x *explorer) choose(ctx context.Context) {
	x.crew.grow(ctx)
	for len(x.sent) < lookahead && !x.enough(ctx) {
		b, more := x.tree.pop(x.busy())
		if !more {
			return
		}
		w := x.tree.walk(b)
		x.send(ctx, w, w)
	}
}

// busy are the nodes of which a branch is being explored.
func (x *explorer) busy() map[*node]bool {
	nodes := map[*node]bool{}
	for _, r := range x.sent {
		nodes[r.walk.from.from] = true
	}
	return nodes
}

// A run is a schedule that is being played.
type run struct {
	job  *job
	walk *walk // nil: it is none of the tree's
	leaf leaf
}

func (x *explorer) send(ctx context.Context, d driver, w *walk) {
	r := &run{walk: w}
	r.job = x.crew.send(func(l *Lab) { r.leaf = x.play(ctx, l, d) })
	x.sent = append(x.sent, r)
	x.lab.explored++
}

// oldest is the first run that was sent, once it is over; nil when there is none.
func (x *explorer) oldest() *run {
	if len(x.sent) == 0 {
		return nil
	}
	r := x.sent[0]
	x.crew.wait(r.job)
	x.sent = x.sent[1:]
	return r
}

// rest returns when nobody plays any more.
func (x *explorer) rest() {
	for _, r := range x.sent {
		if len(x.crew.labs) > 1 {
			<-r.job.done
		}
	}
}

// disband ends the crew, whose labs have no use for footprints any more.
func (x *explorer) disband() {
	x.crew.dismiss()
	for _, l := range x.crew.labs {
		l.prints = nil
	}
}

// enterWalk enters a run of the tree.
func (x *explorer) enterWalk(ctx context.Context, r *run) {
	w, b := r.walk, r.walk.from
	x.tree.enter(w.found)
	x.run(ctx, w, &r.leaf)
	switch {
	case !w.lost:
	case b.tries < maxTries:
		b.tries++
		x.tree.enter(find{branches: []branch{b}})
	default:
		x.tree.lost++
	}
}

// maxTries is how often a branch is tried that PostgreSQL does not go down again.
const maxTries = 20

// plant begins a tree with the one branch that there is: the very first run.
func (x *explorer) plant() {
	w := x.want
	x.tree = newTree(!w.Whole, max(0, w.Shard-1), w.Shards)
	x.tree.queue = frontier{{}}
}

// maxRestarts is after how many no footprint is trusted any more: a receiver that writes its values
// into its SQL has new texts in every run.
const maxRestarts = 30

// restart begins anew: what sleeps was sent to sleep by footprints that were too small.
func (x *explorer) restart() {
	for x.oldest() != nil { // it was chosen from what is no longer true
	}
	x.lab.prints.restarted()
	if x.done.Restarts++; x.done.Restarts == maxRestarts {
		x.want.Whole, x.done.Reduced = true, false
		for _, l := range x.crew.labs {
			l.prints = nil
		}
	}
	x.plant()
	x.done.Explored, x.done.Cut, x.done.Gates = 0, 0, 0
	clear(x.done.Outcomes)
	clear(x.done.States)
	x.batch = nil // its schedules, or their like, are run again
}

// run counts one schedule of the tree, and has it judged if it is of interest.
func (x *explorer) run(ctx context.Context, w *walk, lf *leaf) {
	switch {
	case !lf.cut && x.tree.ours(w.at):
		x.done.Explored++
		x.enter(ctx, lf)
	case lf.report.Verdict != VerdictValid:
		x.enter(ctx, lf)
	case !w.at.foreign:
		x.done.Cut++
	}
}

// play plays one schedule. A lab that clears its tables before each run judges at once.
func (x *explorer) play(ctx context.Context, l *Lab, d driver) leaf {
	p := x.want.Program
	lf := l.leaf(ctx, p, d)
	if l.cfg.Reset != "" {
		l.judgeRuns(ctx, p.Law, []*leaf{&lf})
	}
	for range x.want.Audit {
		if lf.cut || ctx.Err() != nil {
			break
		}
		lf.again = append(lf.again, x.repeat(ctx, l, lf.schedule))
	}
	return lf
}

// repeat plays a schedule once more. Where PostgreSQL was faster with a choice that the schedule makes
// for it, that is no run of this schedule, and it is tried again.
func (x *explorer) repeat(ctx context.Context, l *Lab, s Schedule) *leaf {
	for try := 1; ; try++ {
		f := &follower{steps: slices.Clone(s.Steps)}
		again := l.leaf(ctx, x.want.Program, f)
		if f.outrun && try < maxTries {
			x.outrun.Add(1)
			continue
		}
		again.cut = true // not counted
		if l.cfg.Reset != "" {
			l.judgeRuns(ctx, x.want.Program.Law, []*leaf{&again})
		}
		again.report.Trace = nil // there may be thousands
		return &again
	}
}

// leaf is one program, played and held against the answers that it allows.
func (l *Lab) leaf(ctx context.Context, p Program, d driver) leaf {
	lf := leaf{played: l.playProgram(ctx, p, d), lab: l}
	lf.schedule = l.scheduleOf(p, lf.steps)
	lf.report.Schedule = lf.schedule.String()
	lf.answersOf(p)
	return lf
}

func (l *Lab) scheduleOf(p Program, steps []Step) Schedule {
	return Schedule{Program: p.Name, Seed: l.cfg.Seed, Steps: steps, Gated: l.gated()}
}

// enter puts a run among those to be judged.
func (x *explorer) enter(ctx context.Context, lf *leaf) {
	x.done.Gates += lf.report.Gates
	x.count(lf.schedule)
	x.batch = append(x.batch, lf)
	x.audit(lf)
	if len(x.batch) >= x.batchSize() || lf.report.Verdict != VerdictValid {
		x.judge(ctx)
	}
	x.tell()
}

// batchSize grows, as what is broken mostly shows early.
func (x *explorer) batchSize() int {
	if x.lab.cfg.Reset != "" {
		return 1
	}
	return min(200, 25+(x.done.Explored+x.done.Cut)/2)
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
	d.Pruned, d.Choices = x.tree.pruned, x.tree.choices
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

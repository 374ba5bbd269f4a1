package lab

import (
	"context"
	"errors"
)

// systematic goes through the tree until it is exhausted, the budget spent, or enough is broken.
func (x *explorer) systematic(ctx context.Context) {
	x.plant()
	for {
		x.choose(ctx)
		r := x.oldest(ctx)
		if r == nil {
			return
		}
		x.enterWalk(ctx, r)
		if x.prints != nil && x.prints.learn(r.leaf.lesson) {
			x.restart(ctx)
		}
	}
}

// choose sends runs out until enough are under way.
func (x *explorer) choose(ctx context.Context) {
	x.crew.grow(ctx)
	for len(x.sent) < lookahead && !x.enough(ctx) {
		b, more := x.tree.pop(x.busy())
		switch {
		case more:
			w := x.tree.walk(b)
			x.send(ctx, w, w)
		case !x.hear():
			return
		}
	}
}

// hear enters what the oldest run has come upon with one step more, and says whether there was one:
// a tree begins with one run, and nobody need wait for its end. It is heard only where nothing else
// can be chosen, so that counts decide how far it has been heard, and never who is faster.
func (x *explorer) hear() bool {
	if len(x.sent) == 0 {
		return false
	}
	r := x.sent[0]
	x.crew.begin(r.job)
	f, more := r.walk.hear()
	x.tree.enter(f)
	return more
}

// busy are the nodes of which a branch is being explored.
func (x *explorer) busy() map[*node]bool {
	nodes := map[*node]bool{}
	for _, r := range x.sent {
		nodes[r.walk.branch.from] = true
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
	r.job = x.crew.send(func(l *Lab) {
		why := errors.New("the run was ended by somebody else's code")
		r.leaf = leaf{lab: l, played: played{report: unknown(x.want.Program, why), cut: true}}
		if w != nil {
			defer w.end()
		}
		r.leaf = x.play(ctx, l, d)
	})
	x.sent = append(x.sent, r)
	x.lab.explored++
}

// oldest is the first run that was sent, once it is over; nil when there is none, or nobody wants
// to know any more.
func (x *explorer) oldest(ctx context.Context) *run {
	for len(x.sent) > 0 {
		r := x.sent[0]
		x.sent = x.sent[1:]
		if ctx.Err() == nil {
			x.crew.wait(r.job)
			return r
		}
		x.crew.drop(r.job)
	}
	return nil
}

// enterWalk enters a run of the tree.
func (x *explorer) enterWalk(ctx context.Context, r *run) {
	w, b := r.walk, r.walk.branch
	x.tree.enter(w.rest())
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

// maxTries is how often a branch is tried that PostgreSQL does not go down again, be it that it was
// faster, be it that a victim who is chosen has looked for deadlocks too early to find this one.
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
func (x *explorer) restart(ctx context.Context) {
	for _, r := range x.sent { // they were chosen by what is no longer true
		x.crew.drop(r.job)
	}
	x.sent = nil
	d := &x.done
	if d.Restarts++; d.Restarts == maxRestarts {
		x.want.Whole, d.Reduced, x.prints = true, false, nil
	}
	x.plant()
	x.batch = nil // its schedules, or their like, are run again
	d.Explored, d.Cut, d.Gates, d.Audited, d.Varied = 0, 0, 0, 0, nil
	d.Failures = d.Failures[:x.known]
	clear(d.Outcomes)
	clear(d.States)
	d.Listed, d.Ends = nil, nil
	clear(x.steps)
	x.outrun.Store(0)
}

// run counts one schedule of the tree, and has it judged if it is of interest.
func (x *explorer) run(ctx context.Context, w *walk, lf *leaf) {
	switch {
	case w.left && lf.report.Verdict != VerdictUnknown:
		x.outrun.Add(1)
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
	l.prints = x.prints
	lf := l.leaf(ctx, p, d)
	l.prints = nil
	lf.cut = lf.cut || lf.outrun // also if it was in the last step
	if l.cfg.Reset != "" && (!lf.cut || lf.report.Verdict != VerdictValid) {
		l.judgeRuns(ctx, p.Law, []*leaf{&lf})
	}
	for range x.want.Audit {
		if lf.cut || ctx.Err() != nil {
			break
		}
		again, f := l.follow(ctx, p, lf.schedule)
		x.outrun.Add(int64(f.outran))
		if l.cfg.Reset != "" {
			l.judgeRuns(ctx, p.Law, []*leaf{&again})
		}
		again.cut, again.report.Trace = true, nil // it is not counted, and there may be thousands
		lf.again = append(lf.again, &again)
	}
	return lf
}

// follow plays a schedule. Where PostgreSQL was faster with a choice that the schedule makes for
// it, that is no run of this schedule, and it is tried again, some times.
func (l *Lab) follow(ctx context.Context, p Program, s Schedule) (leaf, *follower) {
	for tries := 0; ; tries++ {
		f := &follower{steps: s.Steps, outran: tries}
		lf := l.leaf(ctx, p, f)
		if !f.outrun || tries+1 == maxTries || ctx.Err() != nil {
			return lf, f
		}
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

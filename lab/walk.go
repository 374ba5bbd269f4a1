package lab

import (
	"fmt"
	"slices"
)

// A walk is one run through the tree: along a branch, then by defaults. It is the run's driver.
type walk struct {
	tree   *tree
	branch branch // that it explores
	found  find   // since the last step that has passed
	ripe   find   // before it, and not told yet
	told   []find // step by step, and not heard yet
	ended  bool
	way    []edge // still to be followed; the last one's label is not known
	at     *node
	step   Step  // the last one taken
	wakes  []int // taken since
	lost   bool  // PostgreSQL did not go the way again
	stale  bool  // it came where it has been before
	over   bool  // what is still to come is of no interest
	left   bool  // … because PostgreSQL chose a victim by itself: the run belongs to no branch
}

// walk begins a run; a branch from nowhere is the very first.
func (t *tree) walk(b branch) *walk {
	w := &walk{tree: t, branch: b, at: t.root}
	if b.from != nil {
		w.way = append(b.from.path(), edge{step: b.step, wakes: b.wakes})
	}
	return w
}

func (w *walk) next(at position) (Step, bool) {
	w.tree.mu.Lock()
	defer w.tree.mu.Unlock()
	w.wakes = nil
	if w.over {
		return Step{}, false
	}
	usual, interesting, found := w.tree.see(w.at, at.enabled)
	w.tell() // whoever hears it finds this place seen
	w.found.add(found)
	interesting = interesting && !w.stale
	if len(w.way) > 0 {
		if slices.Contains(at.enabled, w.way[0].step) {
			usual, interesting = w.way[0].step, true
		} else {
			w.lost, w.way = true, nil
		}
	}
	w.step, w.over = usual, !interesting
	return usual, interesting
}

// wake follows the way, and where it ends takes the first and leaves the others for later.
func (w *walk) wake(free []Step) Step {
	pick, place := 0, len(w.wakes)
	if w.over {
		return free[0]
	}
	if len(w.way) > 0 && place < len(w.way[0].wakes) {
		pick = min(w.way[0].wakes[place], len(free)-1)
	} else {
		c := choice{at: edgeKeyAt{w.at, edge{step: w.step, wakes: w.wakes}.key()}}
		for other := 1; other < len(free); other++ {
			c.branches = append(c.branches, branch{from: w.at, step: w.step,
				cost: w.at.cost, wakes: append(slices.Clone(w.wakes), other)})
		}
		w.found.choices = append(w.found.choices, c)
	}
	w.wakes = append(w.wakes, pick)
	return free[pick]
}

func (w *walk) passed(p passage) {
	w.tree.mu.Lock()
	defer w.tree.mu.Unlock()
	if w.over {
		return
	}
	if p.outrun {
		w.leave(p.step)
		return
	}
	from, known := w.at, false
	w.at, known = w.tree.passed(from, p, w.wakes)
	switch {
	case len(w.way) > 1 && w.way[0].label != p.label:
		w.lost, w.way = true, nil
	case len(w.way) > 0:
		w.way = w.way[1:]
		w.stale = known && len(w.way) == 0
	default:
		w.stale = w.stale || known
	}
	if p.chance > 1 && len(w.way) == 0 {
		w.found.add(w.tree.again(from, p))
	}
	w.ripe, w.found = w.found, find{}
}

// tell lets others know what was found before a step, once that has passed: by then it is known what
// the step does, which decides what sleeps behind its alternatives. Called with tree.mu held.
func (w *walk) tell() {
	if w.at != w.tree.root {
		w.told = append(w.told, w.ripe)
		w.ripe = find{}
		w.tree.moved.Broadcast()
	}
}

// end is the end of the run.
func (w *walk) end() {
	w.tree.mu.Lock()
	defer w.tree.mu.Unlock()
	w.ended = true
	w.tell()
	w.tree.moved.Broadcast()
}

// hear waits for the next step to pass and returns what was found there; false: the run has ended.
func (w *walk) hear() (f find, more bool) {
	w.tree.mu.Lock()
	defer w.tree.mu.Unlock()
	for len(w.told) == 0 && !w.ended {
		w.tree.moved.Wait()
	}
	if len(w.told) == 0 {
		return find{}, false
	}
	f, w.told = w.told[0], w.told[1:]
	return f, true
}

// rest is what was found and not heard. The run has ended.
func (w *walk) rest() (all find) {
	w.tree.mu.Lock()
	defer w.tree.mu.Unlock()
	for _, f := range w.told {
		all.add(f)
	}
	all.add(w.ripe)
	all.add(w.found)
	return all
}

// leave ends the walk where PostgreSQL chose a victim by itself: what comes of it belongs to no
// branch. The step is to be tried again, as its branch says or, beyond it, from here.
func (w *walk) leave(step Step) {
	if w.over, w.left = true, true; len(w.way) > 0 {
		w.lost = true
		return
	}
	w.found.branches = append(w.found.branches,
		branch{from: w.at, step: step, cost: w.at.cost + w.at.preempts(step)})
}

// A chance is a step behind which PostgreSQL chose and nobody could choose for it.
type chance struct {
	seen  map[string]bool
	tries int
	want  int
}

// again asks for the same step once more while fewer outcomes were seen than there were waiters.
func (t *tree) again(n *node, p passage) (found find) {
	key := fmt.Sprintf("%p %v", n, p.step)
	c := t.chances[key]
	if c == nil {
		c = &chance{seen: map[string]bool{}, want: p.chance}
		t.chances[key] = c
		found.choices = append(found.choices, choice{at: edgeKeyAt{n, edge{step: p.step}.key()}})
	}
	c.seen[p.label] = true
	c.tries++
	if len(c.seen) < c.want && c.tries < 5*c.want {
		found.branches = append(found.branches,
			branch{from: n, step: p.step, wakes: []int{}, cost: n.cost, tries: c.tries})
	}
	return found
}

// unseen counts the outcomes of chance that may exist and never came.
func (t *tree) unseen() (n int) {
	for _, c := range t.chances {
		n += c.want - min(c.want, len(c.seen))
	}
	return n
}

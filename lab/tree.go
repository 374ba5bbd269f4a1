package lab

import (
	"container/heap"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"sync"
)

// A tree holds every order of a program's steps as far as it is known. It is explored best first, of
// what is known when somebody is free: orders with few preemptions before those with many, as most
// races need only one or two.
//
// Reduction is by sleep sets: below a node, a step that was explored there before and that is
// independent of the step taken sleeps, until a step that it depends on wakes it. Each class of
// orders that differ only in independent steps is then run once.
type tree struct {
	mu      sync.Mutex // several walks may be under way
	moved   *sync.Cond // one of them has gone a step, or has ended
	reduced bool
	shard   int // 0-based; only with shards > 1
	shards  int
	root    *node
	queue   frontier
	pushed  int
	pruned  int                // branches that sleep
	lost    int                // branches that PostgreSQL would not go down again
	choices map[edgeKeyAt]bool // where PostgreSQL had a choice
	chances map[string]*chance
}

// A node is a place in the tree: what came before it decides everything.
type node struct {
	parent  *node
	via     edge
	depth   int
	cost    int    // preemptions so far
	last    string // session of the last step
	foreign bool   // of another shard

	options  []Step // what can go on, the default first; nil: not seen yet
	sleep    map[Step]effect
	done     map[Step]effect
	children map[edgeKey]*node
}

// An edge is a step, the wakings that followed it, and where everybody stood then.
type edge struct {
	step  Step
	wakes []int // places among the free waiters; beyond its end: 0
	label string
}

// An edgeKey tells edges of one node apart.
type edgeKey struct {
	step         Step
	wakes, label string
}

func (e edge) key() edgeKey {
	key := edgeKey{step: e.step, label: e.label}
	for _, place := range e.wakes {
		key.wakes += strconv.Itoa(place) + " "
	}
	return key
}

// An edgeKeyAt tells edges of all nodes apart.
type edgeKeyAt struct {
	from *node
	edge edgeKey
}

// A choice is a place where PostgreSQL had one: behind a step and the wakings that had followed it.
// A run that PostgreSQL did not let go its way may come upon one that is known.
type choice struct {
	at       edgeKeyAt
	branches []branch // what it could have chosen instead
}

// A branch is an edge that was not taken yet.
type branch struct {
	from  *node
	step  Step
	wakes []int
	cost  int
	seq   int
	tries int
}

// frontier is a heap of branches: few preemptions first, then in the order of their discovery.
type frontier []branch

func (f frontier) Len() int { return len(f) }
func (f frontier) Less(i, j int) bool {
	if f[i].cost != f[j].cost {
		return f[i].cost < f[j].cost
	}
	return f[i].seq < f[j].seq
}
func (f frontier) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f *frontier) Push(x any)   { *f = append(*f, x.(branch)) }
func (f *frontier) Pop() any {
	old := *f
	last := old[len(old)-1]
	*f = old[:len(old)-1]
	return last
}

func newTree(reduced bool, shard, shards int) *tree {
	t := &tree{reduced: reduced, shard: shard, shards: shards, root: newNode(nil, edge{}),
		choices: map[edgeKeyAt]bool{}, chances: map[string]*chance{}}
	t.moved = sync.NewCond(&t.mu)
	return t
}

func newNode(parent *node, via edge) *node {
	n := &node{parent: parent, via: via, done: map[Step]effect{}, children: map[edgeKey]*node{}}
	if parent != nil {
		n.depth, n.last = parent.depth+1, via.step.Session
		n.foreign = parent.foreign
		n.cost = parent.cost + parent.preempts(via.step)
	}
	return n
}

// preempts is 1 when the step takes over from a session that could go on.
func (n *node) preempts(s Step) int {
	if s.Session == n.last {
		return 0
	}
	for _, o := range n.options {
		if o.Session == n.last {
			return 1
		}
	}
	return 0
}

// path is the way from the root to this node.
func (n *node) path() (edges []edge) {
	for ; n.parent != nil; n = n.parent {
		edges = append(edges, n.via)
	}
	slices.Reverse(edges)
	return edges
}

// shardDepth is where subtrees are dealt out: deep enough that there are many.
const shardDepth = 5

// claim decides whose the node's subtree is, also when that is a leaf.
func (t *tree) claim(n *node) {
	if t.shards < 2 || n.depth != shardDepth {
		return
	}
	h := fnv.New32a()
	for _, e := range n.path() {
		fmt.Fprint(h, e.step, e.wakes, ";")
	}
	n.foreign = int(h.Sum32()%uint32(t.shards)) != t.shard
}

// ours: a leaf is counted by one shard only, also when it lies above the depth of dealing.
func (t *tree) ours(n *node) bool {
	if t.shards < 2 || n.depth >= shardDepth {
		return !n.foreign
	}
	return t.shard == 0
}

func (t *tree) push(b branch) {
	if b.from.foreign {
		return
	}
	t.pushed++
	b.seq = t.pushed
	heap.Push(&t.queue, b)
}

// pop is the next branch to explore; false when there is none. Nodes of which a branch is being
// explored are passed over: what sleeps behind another depends on what comes of it.
func (t *tree) pop(busy map[*node]bool) (branch, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var later []branch
	defer func() {
		for _, b := range later {
			heap.Push(&t.queue, b)
		}
	}()
	for t.queue.Len() > 0 {
		b := heap.Pop(&t.queue).(branch)
		switch {
		case !t.awake(b):
		case busy[b.from]:
			later = append(later, b)
		default:
			return b, true
		}
	}
	return branch{}, false
}

// left counts the branches that are still to be entered.
func (t *tree) left() (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, b := range t.queue {
		if b.from != nil && t.awake(b) {
			n++
		}
	}
	return n
}

// awake: no other branch stands for this one. The root's default and the choices of PostgreSQL
// always are.
func (t *tree) awake(b branch) bool {
	return b.from == nil || !t.reduced || b.wakes != nil || !t.asleep(b.from, b.step)
}

func (t *tree) asleep(n *node, s Step) bool { _, yes := n.sleep[s]; return yes }

// see enters what can go on at a node, once, and gives the default.
func (t *tree) see(n *node, enabled []Step) (usual Step, interesting bool, found find) {
	if n.options == nil {
		n.options = slices.Clone(enabled)
		if i := slices.IndexFunc(n.options, func(s Step) bool { return s.Session == n.last }); i > 0 {
			s := n.options[i]
			n.options = append([]Step{s}, slices.Delete(n.options, i, i+1)...)
		}
		first := true
		for _, s := range n.options {
			switch {
			case t.reduced && t.asleep(n, s):
				found.pruned++
			case first:
				first = false
			default:
				found.branches = append(found.branches,
					branch{from: n, step: s, cost: n.cost + n.preempts(s)})
			}
		}
	}
	if n.foreign {
		return Step{}, false, found
	}
	for _, s := range n.options {
		if !t.reduced || !t.asleep(n, s) {
			return s, true, found
		}
	}
	return Step{}, false, found
}

// A find is what a walk has come upon.
type find struct {
	branches []branch
	pruned   int // branches that sleep
	choices  []choice
}

func (f *find) add(g find) {
	f.branches = append(f.branches, g.branches...)
	f.pruned += g.pruned
	f.choices = append(f.choices, g.choices...)
}

// enter puts what a walk has come upon into the tree.
func (t *tree) enter(f find) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, b := range f.branches {
		t.push(b)
	}
	for _, c := range f.choices {
		if t.choices[c.at] {
			continue
		}
		t.choices[c.at] = true
		for _, b := range c.branches {
			t.push(b)
		}
	}
	t.pruned += f.pruned
}

// passed notes what a step did and gives the node behind it, and whether it was known.
func (t *tree) passed(n *node, p passage, wakes []int) (c *node, known bool) {
	e := edge{step: p.step, wakes: wakes, label: p.label}
	effect := p.effect
	if old, again := n.done[p.step]; again {
		effect.add(old)
	}
	n.done[p.step] = effect
	if c := n.children[e.key()]; c != nil {
		return c, true
	}
	c = newNode(n, e)
	t.claim(c)
	n.children[e.key()] = c
	if t.reduced {
		t.sendToSleep(n, c, p)
	}
	return c, false
}

// sendToSleep: what sleeps at n, and what was explored there before this step, sleeps on below it
// unless it depends on it.
func (t *tree) sendToSleep(n, c *node, p passage) {
	c.sleep = map[Step]effect{}
	for s, e := range n.sleep {
		if s != p.step && !dependent(e, p.effect) {
			c.sleep[s] = e
		}
	}
	for _, s := range n.options {
		if s == p.step {
			break
		}
		if e, explored := n.done[s]; explored && !dependent(e, p.effect) {
			c.sleep[s] = e
		}
	}
}

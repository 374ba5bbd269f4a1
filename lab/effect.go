package lab

// An access is what a command does to one relation: to the rows that keys name, or to any of them.
type access struct {
	relation string
	keys     map[string]string // unique index → key; nil: any row
}

// conflicts tells whether two accesses may concern the same row.
//
// Two rows are told apart by an index that both name: their keys differ there. Without a common
// index nothing is known.
func (a access) conflicts(b access) bool {
	if a.relation != b.relation {
		return false
	}
	if a.keys == nil || b.keys == nil {
		return true
	}
	common := false
	for index, key := range a.keys {
		if other, ok := b.keys[index]; ok {
			if other == key {
				return true
			}
			common = true
		}
	}
	return !common
}

func meet(a, b []access) bool {
	for _, x := range a {
		for _, y := range b {
			if x.conflicts(y) {
				return true
			}
		}
	}
	return false
}

// An effect is what one step did, the commands that it woke included.
type effect struct {
	reads   []access
	writes  []access // and locks, and checks of unique keys
	commits []access // writes whose fate was decided: they show, or their locks are free
	all     bool     // nobody knows what it touches
	waited  bool     // it took part in a wait
}

func (e *effect) add(o effect) {
	e.reads = append(e.reads, o.reads...)
	e.writes = append(e.writes, o.writes...)
	e.commits = append(e.commits, o.commits...)
	e.all = e.all || o.all
	e.waited = e.waited || o.waited
}

func (e effect) empty() bool {
	return !e.all && len(e.reads)+len(e.writes)+len(e.commits) == 0
}

// dependent tells whether the order of two steps can matter under READ COMMITTED.
//
// A read doesn't see what is not committed, so it only depends on commits; writes of one row
// depend on each other; whatever waited depends on whatever else waited, as queues and the
// victims of deadlocks are decided by who came first.
func dependent(a, b effect) bool {
	switch {
	case a.empty() || b.empty():
		return a.waited && b.waited
	case a.all || b.all, a.waited && b.waited:
		return true
	}
	return meet(a.writes, b.writes) ||
		meet(a.commits, b.reads) || meet(a.commits, b.writes) ||
		meet(b.commits, a.reads) || meet(b.commits, a.writes)
}

// everything conflicts with whatever is not empty.
var everything = effect{all: true}

package lab

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A deadlock, behind which the program goes on: PostgreSQL chooses the victim unless the lab is
// faster. As often as it is, the same orders are run, each choice is known once, and none is lost.
func TestAWalkThatLeftTheTreeIsTriedAgain(t *testing.T) {
	ends, choices := deadlocks(t, func(int) bool { return false })
	require.Len(t, ends, 14) // ten words of two a and three b, four of them with either victim
	require.Equal(t, 4, choices)
	for every := 2; every < 6; every++ {
		again, known := deadlocks(t, func(n int) bool { return n%every == 0 })
		require.Equal(t, ends, again)
		require.Equal(t, choices, known)
	}
}

// deadlocks runs the whole tree; outrun says of the nth deadlock whether PostgreSQL was faster.
func deadlocks(t *testing.T, outrun func(nth int) bool) (ends map[string]int, choices int) {
	t.Helper()
	tree, ends, met := newTree(false, 0, 0), map[string]int{}, 0
	tree.queue = frontier{{}}
	for runs := 0; ; runs++ {
		require.Less(t, runs, 100, "it goes on for ever")
		b, more := tree.pop(nil)
		if !more {
			return ends, len(tree.choices)
		}
		w := tree.walk(b)
		end, whole := walked(w, func() bool {
			met++
			return outrun(met)
		})
		tree.enter(w.rest())
		if whole && !w.left {
			ends[end]++
			require.Equal(t, 1, ends[end], end)
		}
		if w.lost {
			tree.enter(find{branches: []branch{w.branch}})
		}
	}
}

// walked plays the sessions a, of two steps, and b, of three, for a walk. They close a deadlock when
// both have taken two, if each had taken one before.
func walked(w *walk, outrun func() bool) (end string, whole bool) {
	left, way, victim := map[string]int{"a": 2, "b": 3}, "", ""
	for {
		var enabled []Step
		for _, name := range []string{"a", "b"} {
			if left[name] > 0 {
				enabled = append(enabled, Step{Session: name})
			}
		}
		if len(enabled) == 0 {
			return way + victim, true
		}
		step, interested := w.next(position{enabled: enabled})
		if !interested {
			return way, false
		}
		left[step.Session]--
		way += step.Session
		p := passage{step: step}
		if deadlock := len(way) == 4 && way[0] != way[1] && left["a"] == 0; deadlock {
			if p.outrun = outrun(); !p.outrun {
				victims := []Step{{Session: "a", Kind: StepDies}, {Session: "b", Kind: StepDies}}
				victim = " without " + w.wake(victims).Session
			}
		}
		p.label = way + victim
		w.passed(p)
	}
}

// Who is lost before leaving has two places to come back to.
func TestALostWalkThatLeavesForgetsNothing(t *testing.T) {
	tree := newTree(false, 0, 0)
	both := position{enabled: []Step{{Session: "a"}, {Session: "b"}}}
	first := tree.walk(branch{})
	step, _ := first.next(both)
	first.passed(passage{step: step, label: "as ever"})

	w := tree.walk(branch{from: first.at, step: Step{Session: "b"}})
	w.next(both)
	w.passed(passage{step: step, label: "otherwise"})
	require.True(t, w.lost)
	w.next(both)
	w.passed(passage{step: Step{Session: "a"}, outrun: true})
	require.True(t, w.lost && w.left)
	require.Equal(t, first.at, w.branch.from)
	last := w.found.branches[len(w.found.branches)-1]
	require.Equal(t, w.at, last.from)
}

// Somebody who is lost may come upon a choice that is known: its branches are not new.
func TestAChoiceIsKnownOnce(t *testing.T) {
	tree := newTree(false, 0, 0)
	c := choice{at: edgeKeyAt{from: tree.root}, branches: []branch{{from: tree.root}}}
	for range 2 {
		tree.enter(find{choices: []choice{c}})
	}
	require.Equal(t, 1, tree.queue.Len())
	require.Len(t, tree.choices, 1)
}

// What a run has come upon is heard while it is still under way, a step after the other, but never
// before the step has passed.
func TestAWalkIsHeardStepByStep(t *testing.T) {
	tree := newTree(true, 0, 0)
	w := tree.walk(branch{})
	both := position{enabled: []Step{{Session: "a"}, {Session: "b"}}}
	usual, _ := w.next(both)
	require.Empty(t, w.told, "what the step does is not known yet")
	heard := make(chan find)
	go func() {
		found, _ := w.hear()
		heard <- found
	}()
	w.passed(passage{step: usual, label: "one"})
	w.next(both)
	tree.enter(<-heard)
	require.Contains(t, tree.root.done, usual)
	other, more := tree.pop(map[*node]bool{nil: true})
	require.True(t, more)
	require.Equal(t, Step{Session: "b"}, other.step)
	require.Equal(t, tree.root, other.from)

	ended := make(chan bool)
	go func() {
		_, more := w.hear()
		_, evenMore := w.hear()
		ended <- more && !evenMore
	}()
	w.end()
	require.True(t, <-ended)
	require.Len(t, w.rest().branches, 1, "of the step that has not passed")
}

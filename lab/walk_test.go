package lab

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Two sessions of two steps each, whose second steps close a deadlock: PostgreSQL chooses the victim
// unless the lab is faster. As often as it is, the same orders are run, each choice is known once, and
// none is lost.
func TestAWalkThatLeftTheTreeIsTriedAgain(t *testing.T) {
	ends, choices := twoOfTwo(t, func(int) bool { return false })
	require.Len(t, ends, 10)
	require.Equal(t, 4, choices)
	for every := 2; every < 6; every++ {
		again, known := twoOfTwo(t, func(n int) bool { return n%every == 0 })
		require.Equal(t, ends, again)
		require.Equal(t, choices, known)
	}
}

// twoOfTwo runs the whole tree; outrun says of the nth deadlock whether PostgreSQL was faster.
func twoOfTwo(t *testing.T, outrun func(nth int) bool) (ends map[string]int, choices int) {
	t.Helper()
	tree, ends, deadlocks := newTree(false, 0, 0), map[string]int{}, 0
	tree.queue = frontier{{}}
	for runs := 0; ; runs++ {
		require.Less(t, runs, 100, "it goes on for ever")
		b, more := tree.pop(nil)
		if !more {
			return ends, len(tree.choices)
		}
		w := tree.walk(b)
		way, whole := walked(w, func() bool { deadlocks++; return outrun(deadlocks) })
		tree.enter(w.found)
		if whole && !w.left {
			ends[way]++
			require.Equal(t, 1, ends[way], way)
		}
		if w.lost {
			tree.enter(find{branches: []branch{w.again}})
		}
	}
}

// walked plays the sessions a and b for a walk. The last step closes a deadlock if both first steps
// came before it and before each second one.
func walked(w *walk, outrun func() bool) (way string, whole bool) {
	left := map[string]int{"a": 2, "b": 2}
	for {
		var enabled []Step
		for _, name := range []string{"a", "b"} {
			if left[name] > 0 {
				enabled = append(enabled, Step{Session: name})
			}
		}
		if len(enabled) == 0 {
			return way, true
		}
		step, interested := w.next(position{enabled: enabled})
		if !interested {
			return way, false
		}
		left[step.Session]--
		way += step.Session
		p := passage{step: step}
		if deadlock := len(way) == 4 && way[0] != way[1]; deadlock {
			if p.outrun = outrun(); !p.outrun {
				victims := []Step{{Session: "a", Kind: StepDies}, {Session: "b", Kind: StepDies}}
				way += " " + w.wake(victims).Session
			}
		}
		p.label = strings.TrimSpace(way)
		w.passed(p)
	}
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

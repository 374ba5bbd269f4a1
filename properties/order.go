package properties

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"

	"webhooklab/lab"
)

// model is what porcupine searches with: states are Models that nobody changes any more.
func (l Linearizable) model() porcupine.Model {
	return porcupine.Model{
		Partition: partition,
		Init: func() any {
			if l.Before == nil {
				return &Model{}
			}
			return l.Before
		},
		Step: func(state, input, output any) (bool, any) {
			return step(state.(*Model), input.(call), output.(lab.Answer))
		},
		Equal: func(a, b any) bool { return a.(*Model).same(b.(*Model)) },
		DescribeOperation: func(input, output any) string {
			c := input.(call)
			if c.look != nil {
				return "look at " + c.look.part(c.keys)
			}
			return fmt.Sprintf("%s: %s", c.delivery, output.(lab.Answer))
		},
		DescribeState: func(state any) string { return state.(*Model).String() },
	}
}

// step says whether the call may have been answered so in this state, and gives the next one. An
// unknown answer stands for an event that is stored: any that acknowledges it will do.
func step(m *Model, c call, answer lab.Answer) (bool, *Model) {
	if c.look != nil {
		return m.part(c.keys) == c.look.part(c.keys), m
	}
	if !c.sound {
		return answer == lab.Invalid, m
	}
	a := m.judge(c.event)
	if a != answer && !(answer == lab.Unknown && a.Acked) {
		return false, m
	}
	if a == lab.Applied || a == lab.Stale {
		m = m.clone()
		m.take(c.event, a)
	}
	return true, m
}

// keys of the events and objects that deliveries touch.
type keys struct {
	events  map[eventKey]bool
	objects map[objectKey]bool
}

func keysOf(ops []porcupine.Operation) keys {
	k := keys{map[eventKey]bool{}, map[objectKey]bool{}}
	for _, op := range ops {
		c := op.Input.(call)
		if c.sound {
			k.events[c.event.key()] = true
			k.objects[c.event.objectKey()] = true
		}
	}
	return k
}

// partition splits calls into groups that can't influence each other: two calls are in one group
// if they share an event id or an object, or both share one with a third. What is invalid touches
// nothing and stands alone.
func partition(ops []porcupine.Operation) [][]porcupine.Operation {
	leader := make([]int, len(ops)) // of the group of each call, following it to a fixed point
	find := func(i int) int {
		for leader[i] != i {
			i = leader[i]
		}
		return i
	}
	first := map[any]int{}
	for i, op := range ops {
		leader[i] = i
		for _, key := range touched(op.Input.(call)) {
			if j, seen := first[key]; seen {
				leader[find(i)] = find(j)
			} else {
				first[key] = i
			}
		}
	}
	place := map[int]int{}
	var groups [][]porcupine.Operation
	for i, op := range ops {
		top := find(i)
		if _, seen := place[top]; !seen {
			place[top] = len(groups)
			groups = append(groups, nil)
		}
		groups[place[top]] = append(groups[place[top]], op)
	}
	return groups
}

func touched(c call) []any {
	if c.sound {
		return []any{c.event.key(), c.event.objectKey()}
	}
	var all []any
	for key := range c.keys.events {
		all = append(all, key)
	}
	for key := range c.keys.objects {
		all = append(all, key)
	}
	return all
}

// part writes what the model holds under these keys, in an order of its own.
func (m *Model) part(k keys) string {
	p := &Model{}
	p.fill()
	for key := range k.events {
		if v, there := m.events[key]; there {
			p.events[key] = v
		}
	}
	for key := range k.objects {
		if v, there := m.objects[key]; there {
			p.objects[key] = v
		}
	}
	return p.String()
}

// String lists events and objects, sorted; equal models are written alike.
func (m *Model) String() string {
	var all []string
	for key, v := range m.events {
		all = append(all, fmt.Sprintf("event %s %q: %q@%d %s",
			key.source, key.event, v.object, v.revision, v.snapshot))
	}
	for key, v := range m.objects {
		all = append(all, fmt.Sprintf("object %s %q: @%d %s",
			key.source, key.object, v.revision, v.snapshot))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

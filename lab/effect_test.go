package lab

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func row(relation string, keys ...string) access {
	a := access{relation: relation}
	for i := 0; i < len(keys); i += 2 {
		if a.keys == nil {
			a.keys = map[string]string{}
		}
		a.keys[keys[i]] = keys[i+1]
	}
	return a
}

// Two accesses concern different rows only if an index that both name tells them apart.
func TestAccessesConflict(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b access
		want bool
	}{
		{"other relation", row("a"), row("b"), false},
		{"whole relation", row("a"), row("a", "pk", "1"), true},
		{"same key", row("a", "pk", "1"), row("a", "pk", "1"), true},
		{"other key", row("a", "pk", "1"), row("a", "pk", "2"), false},
		{"equal in one of two", row("a", "pk", "1", "u", "x"), row("a", "pk", "2", "u", "x"), true},
		{"no common index", row("a", "pk", "1"), row("a", "u", "x"), true},
	} {
		require.Equal(t, c.want, c.a.conflicts(c.b), c.name)
		require.Equal(t, c.want, c.b.conflicts(c.a), c.name)
	}
}

// Under READ COMMITTED a read doesn't mind what is not committed; all else that meets depends.
func TestDependence(t *testing.T) {
	x, y := row("a", "pk", "1"), row("a", "pk", "2")
	reads := effect{reads: []access{x}}
	writes := effect{writes: []access{x}}
	commits := effect{commits: []access{x}}
	for _, c := range []struct {
		name string
		a, b effect
		want bool
	}{
		{"read, read", reads, reads, false},
		{"read, uncommitted write", reads, writes, false},
		{"write, write", writes, writes, true},
		{"write, write of another row", writes, effect{writes: []access{y}}, false},
		{"read, commit", reads, commits, true},
		{"write, commit", writes, commits, true},
		{"commit, commit", commits, commits, false},
		{"waited both", effect{waited: true}, effect{waited: true}, true},
		{"waited one", effect{waited: true}, effect{}, false},
		{"unknown, anything", everything, reads, true},
		{"unknown, nothing", everything, effect{}, false},
	} {
		require.Equal(t, c.want, dependent(c.a, c.b), c.name)
		require.Equal(t, c.want, dependent(c.b, c.a), c.name)
	}
}

// Orders are the multinomial.
func TestOrders(t *testing.T) {
	require.Equal(t, "1", orders(map[string]int{"a": 4}).String())
	require.Equal(t, "70", orders(map[string]int{"a": 4, "b": 4}).String())
	require.Equal(t, "1680", orders(map[string]int{"a": 3, "b": 3, "c": 3}).String())
	require.Equal(t, "63063000", orders(map[string]int{"a": 4, "b": 4, "c": 4, "d": 4}).String())
}

// The samples' worth is that of probabilistic concurrency testing.
func TestBound(t *testing.T) {
	require.Contains(t, bound(2, 10, 100), "depth 1 was missed with a probability of at most 7.9e-31")
	require.Contains(t, bound(2, 10, 100), "depth 2 was missed with a probability of at most 0.0059")
}

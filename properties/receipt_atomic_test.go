package properties_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"webhooklab/scenarios"
)

// Deliveries and their copies, in turn, overlapping and all at once, storms, connections that are
// cut: the same for the atomic handler, which nothing but its senders drives.
func TestAtomicMachine(t *testing.T) {
	law := property{
		law:     "atomic receipts obey every law at every step, and end once senders are answered",
		percent: 2,
		proof:   faultsAndOverlaps,
	}.begin(t)
	c := newCrew(t, scenarios.AtomicSuite, scenarios.Atomic, "")
	law.check(t, func(t *rapid.T) {
		s := scripts(atomicActs())
		found, err := c.play(t.Context(), s.Draw(t, "script"), findings.any)
		require.NoError(t, err)
		found.none(t, sourceNames())
	})
}

func atomicActs() []string {
	return []string{"calm", "deliver", "deliver", "deliver", "deliver", "storm"}
}

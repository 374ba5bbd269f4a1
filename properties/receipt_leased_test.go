package properties_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"webhooklab/scenarios"
)

// Deliveries, workers that fail, pause, die and come back, leases that expire, storms: after every
// step the laws hold, and everything is where the model says.
func TestLeasedMachine(t *testing.T) {
	law := property{
		law:     "leased receipts obey every law at every step, and end once faults stop",
		percent: 2,
		proof:   faultsAndOverlaps,
	}.begin(t)
	c := newCrew(t, scenarios.LeasedSuite, scenarios.Leased, "")
	law.check(t, func(t *rapid.T) {
		found, err := c.play(t.Context(), scripts(leasedActs()).Draw(t, "script"), findings.any)
		require.NoError(t, err)
		found.none(t, sourceNames())
	})
}

// faultsAndOverlaps is the proof that calls were cut, and that others met.
func faultsAndOverlaps(drawn tally) string {
	switch {
	case drawn.fired == 0:
		return fmt.Sprintf("none of %d faults ever fired", drawn.armed)
	case drawn.overlaps == 0:
		return "no two calls ever overlapped"
	}
	return ""
}

func (f findings) any() bool { return len(f) > 0 }

func leasedActs() []string {
	return []string{
		"calm", "deliver", "deliver", "deliver", "deliver", "deliver", "deliver", "deliver",
		"work", "work", "work", "claim", "claim", "claim", "claim", "claim",
		"complete", "complete", "complete", "fail", "fail", "release", "heartbeat",
		"expire", "expire", "recover", "due", "due", "bound", "bound", "requeue", "requeue",
		"storm", "die",
	}
}

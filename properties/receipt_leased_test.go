package properties_test

import (
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
		percent: 5,
	}.begin(t)
	c := newCrew(t, scenarios.LeasedSuite, scenarios.Leased, "")
	law.check(t, func(t *rapid.T) {
		found, err := c.play(t.Context(), scripts(30, leasedActs()).Draw(t, "script"), findings.any)
		require.NoError(t, err)
		found.none(t, []string{"shop~~"})
	})
}

func (f findings) any() bool { return len(f) > 0 }

func leasedActs() []string {
	return []string{
		"deliver", "deliver", "deliver", "deliver", "deliver", "work", "work", "work",
		"claim", "claim", "claim", "claim", "complete", "complete", "complete", "fail", "fail",
		"release", "heartbeat", "heartbeat", "expire", "expire", "recover", "recover",
		"due", "due", "requeue", "storm", "storm", "calm", "die",
	}
}

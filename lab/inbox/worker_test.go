package inbox_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

func TestALeasedEventIsStoredThenProcessedOnce(t *testing.T) {
	d := withEffects(t)
	intake := inbox.NewIntake(d.pool, inbox.Options{})
	for _, want := range []inbox.Outcome{inbox.Accepted, inbox.Duplicate} {
		outcome, err := intake.Receive(bounded(t), order)
		require.NoError(t, err)
		require.Equal(t, want, outcome)
	}
	worker := inbox.NewWorker(d.pool, effect, inbox.WorkerOptions{})
	for _, want := range []inbox.Outcome{inbox.Processed, inbox.Idle} {
		outcome, err := worker.Work(bounded(t))
		require.NoError(t, err)
		require.Equal(t, want, outcome)
	}
	require.Equal(t, 1, d.effects(t))
	require.Equal(t, "processed | 1 | one effect", d.receipt(t, "evt_1"))
	d.addsUp(t)
}

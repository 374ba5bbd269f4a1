package inbox_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

func TestAnAtomicEventIsProcessedOnce(t *testing.T) {
	d := withEffects(t)
	atomic := inbox.NewAtomic(d.pool, effect, inbox.Options{})
	for i, want := range []inbox.Outcome{inbox.Processed, inbox.Duplicate, inbox.Duplicate} {
		outcome, err := atomic.Receive(bounded(t), order)
		require.NoError(t, err)
		require.Equal(t, want, outcome, i)
	}
	require.Equal(t, 1, d.effects(t))
	require.Equal(t, "processed | 1 | one effect", d.receipt(t, "evt_1"))
	require.Equal(t, "1 processing by atomic, 1 processed by atomic", d.steps(t, "evt_1"))
	d.addsUp(t)
}

func TestAnAtomicFailureIsRecordedAndRunAgain(t *testing.T) {
	d := withEffects(t)
	closed := inbox.NewAtomic(d.pool, failing(errShop), inbox.Options{})
	for attempt := range 2 {
		outcome, err := closed.Receive(bounded(t), order)
		failure := failsAs(t, inbox.ErrUnavailable, outcome, err)
		require.Equal(t, "failed", failure.Reason, attempt)
		require.ErrorIs(t, failure, errShop)
	}
	require.Zero(t, d.effects(t))
	require.Equal(t, "failed | 2 | the shop is closed", d.receipt(t, "evt_1"))

	outcome, err := inbox.NewAtomic(d.pool, effect, inbox.Options{}).Receive(bounded(t), order)
	require.NoError(t, err)
	require.Equal(t, inbox.Processed, outcome)
	require.Equal(t, 1, d.effects(t))
	require.Equal(t, "processed | 3 | one effect", d.receipt(t, "evt_1"))
	d.addsUp(t)
}

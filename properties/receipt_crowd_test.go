package properties_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/scenarios"
	"webhooklab/toxiproxy"
)

const filledSQL = `
WITH receipt AS (
	INSERT INTO webhook_receipt (source, event_id, model, event_type, payload, raw_body, status,
	                             max_attempts, next_attempt_at, actor)
	SELECT $1, 'evt_' || n, 'leased', 'order.paid', '{"order": 7}', '{"order": 7}', 'pending', 3,
	       clock_timestamp(), 'intake'
	  FROM generate_series(1, $2) AS n
	RETURNING source, event_id
)
INSERT INTO webhook_delivery (source, event_id, counted_as, answer)
SELECT source, event_id, 'new', 'accepted' FROM receipt`

// Eight workers and ten thousand receipts. Two of the workers die on the way, each wherever the
// seed says; what they held comes back, and everything is processed once.
func TestEightWorkersOfWhomTwoDie(t *testing.T) {
	receipts := 10_000
	if testing.Short() {
		receipts = 300
	}
	property{law: "of eight workers two die, and each of all receipts is processed once"}.begin(t)
	ground.drawn.sequences++
	p := newPlot(t, scenarios.LeasedSuite, "")
	_, sources := freshly([]string{"shop"})
	require.NoError(t, p.exec(t.Context(), filledSQL, sources[0], receipts))
	mortal := wiredTo(t, p.database.DSN(), scenarios.Leased, "mortal", 2)
	dice := rand.New(rand.NewPCG(ground.seed, 0))
	for _, w := range mortal {
		w.arm([]cutPlan{{
			at:    toxiproxy.Place(dice.IntN(2)),
			close: toxiproxy.RST,
			skip:  receipts/20 + dice.IntN(receipts/10), // of about five for each receipt
		}})
	}
	worked := crowdWorks(t, p, mortal, receipts)

	fired := 0
	for _, w := range mortal {
		armed, n, err := w.heal()
		require.NoError(t, errors.Join(err, p.bury(t.Context(), w)))
		ground.drawn.armed += armed
		fired += n
	}
	ground.drawn.fired += fired
	require.Equal(t, len(mortal), fired, "unknown: not every worker that should die did")
	worked += p.takeBack(t, sources[0])
	p.lawful(t.Context(), sources, nil).none(t, sources)

	var effects, events, once, lost int
	require.NoError(t, p.judge.QueryRow(t.Context(), `
SELECT count(*), count(DISTINCT event_id) FROM effect`).Scan(&effects, &events))
	require.NoError(t, p.judge.QueryRow(t.Context(), `
SELECT count(*) FILTER (WHERE attempts = 1), count(*) FILTER (WHERE attempts = 2)
  FROM webhook_receipt WHERE status = 'processed'`).Scan(&once, &lost))
	require.Equal(t, []int{receipts, receipts, receipts}, []int{effects, events, once + lost})
	require.LessOrEqual(t, lost, len(mortal))
	require.LessOrEqual(t, receipts-worked, len(mortal), "nobody was told of so many results")
	t.Logf("%d processed, %d of them at the second attempt, %d results not heard",
		effects, lost, receipts-worked)
}

// crowdWorks lets the mortal work until they die, and the rest of the eight until there is nothing
// to claim, and counts the results that they heard. The rest leave the second half of the receipts
// until the mortal are dead, or these might find nothing to die of.
func crowdWorks(t *testing.T, p *plot, mortal []*wired, receipts int) int {
	counts := make([]int, 8)
	failed := make([]error, len(counts))
	dead := make(chan struct{})
	var dying, running sync.WaitGroup
	for i, w := range mortal {
		w.history = lab.NewHistory()
		dying.Go(func() {
			counts[i], _ = worksOff(t.Context(), w.receiver, receipts)
		})
	}
	for i := len(mortal); i < len(counts); i++ {
		r, err := scenarios.Leased(t.Context(), p.database.DSN())
		require.NoError(t, err)
		t.Cleanup(func() { closeReceiver(r) })
		running.Go(func() {
			counts[i], failed[i] = worksOff(t.Context(), r, receipts/2/len(counts))
			<-dead
			n, err := worksOff(t.Context(), r, receipts)
			counts[i], failed[i] = counts[i]+n, errors.Join(failed[i], err)
		})
	}
	dying.Wait()
	close(dead)
	running.Wait()
	require.NoError(t, errors.Join(failed...))
	sum := 0
	for _, n := range counts {
		sum += n
	}
	return sum
}

// worksOff works until nothing is due, or so often, and counts what it processed.
func worksOff(ctx context.Context, r lab.Receiver, most int) (n int, err error) {
	for n < most {
		answer, err := r.(scenarios.Clerk).Work(ctx)
		if err != nil || answer.Outcome != "processed" {
			return n, err
		}
		n++
	}
	return n, nil
}

// takeBack ends the leases of the dead and has their receipts processed.
func (p *plot) takeBack(t *testing.T, source string) int {
	r, err := scenarios.Leased(t.Context(), p.database.DSN())
	require.NoError(t, err)
	t.Cleanup(func() { closeReceiver(r) })
	require.NoError(t, p.exec(t.Context(), `
UPDATE webhook_receipt SET lease_expires_at = clock_timestamp()
 WHERE source = $1 AND status = 'processing'`, source))
	_, err = r.(scenarios.Clerk).Recover(t.Context())
	require.NoError(t, err)
	require.NoError(t, p.exec(t.Context(), `
UPDATE webhook_receipt SET next_attempt_at = clock_timestamp()
 WHERE source = $1 AND next_attempt_at > clock_timestamp()`, source))
	n, err := worksOff(t.Context(), r, 8)
	require.NoError(t, err)
	return n
}

package inbox_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jackc/pgx/v5/pgxpool"
	"webhooklab/lab/inbox"
)

// fill stores so many receipts at once, evt_1 and up, in the order of their numbers.
func (d *database) fill(t testing.TB, receipts int) {
	t.Helper()
	d.exec(t, `
		INSERT INTO webhook_receipt
			(source, event_id, event_type, payload, raw_body, model, status, max_attempts,
			 next_attempt_at, actor)
		SELECT 'shop', 'evt_' || n, 'order.paid', '{}', '{}', 'leased', 'pending', 10,
		       clock_timestamp(), 'test'
		FROM generate_series(1, $1::int) AS n`, receipts)
}

// runPool works with so many workers until nothing is left.
func (d *database) runPool(t testing.TB, change inbox.Change, size int) {
	t.Helper()
	pool := d.newPool(t, func(c *pgxpool.Config) { c.MaxConns = int32(size) + 2 })
	ctx, stop := context.WithCancel(bounded(t))
	w := inbox.NewWorker(pool, change, inbox.WorkerOptions{})
	p := inbox.NewPool(w, size, inbox.PoolOptions{Report: func(o inbox.Outcome, err error) {
		if err != nil {
			t.Error(err)
		}
	}})
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	d.waitUntil(t, `SELECT NOT EXISTS (SELECT FROM webhook_receipt
		WHERE status NOT IN ('processed', 'rejected', 'dead'))`)
	stop()
	require.NoError(t, <-ended)
}

func TestEightWorkersShareNoReceipt(t *testing.T) {
	receipts := 10_000
	if testing.Short() {
		receipts = 500
	}
	d := withEffects(t)
	d.fill(t, receipts)
	d.runPool(t, effect, 8)
	require.Equal(t, receipts, d.effects(t))
	require.Equal(t, receipts, d.number(t, `SELECT count(DISTINCT event_id) FROM effect`))
	require.Equal(t, receipts, d.number(t, `SELECT count(*) FROM webhook_receipt
		WHERE status = 'processed' AND attempts = 1`))
}

func BenchmarkReceipts(b *testing.B) {
	for _, size := range []int{1, 4, 8} {
		b.Run(fmt.Sprint(size, "_workers"), func(b *testing.B) {
			d := withEffects(b)
			for b.Loop() {
				b.StopTimer()
				d.fill(b, 5000)
				d.exec(b, `VACUUM ANALYZE`)
				b.StartTimer()
				d.runPool(b, effect, size)
				b.StopTimer()
				d.exec(b, `DELETE FROM webhook_receipt`)
				b.StartTimer()
			}
			b.ReportMetric(float64(5000*b.N)/b.Elapsed().Seconds(), "receipts/s")
		})
	}
}

package inbox_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

// Receipts that wait already, processed by a pool, each with one INSERT for its effect. Beside the
// rate it tells the dead rows that are left behind for each receipt, before any vacuum.
func BenchmarkReceipts(b *testing.B) {
	const receipts = 5000
	for _, size := range []int{1, 4, 8} {
		b.Run(fmt.Sprint(size, "_workers"), func(b *testing.B) {
			d := withEffects(b)
			d.exec(b, `ALTER TABLE webhook_receipt SET (autovacuum_enabled = off)`)
			var working time.Duration
			for b.Loop() {
				d.fill(b, receipts)
				d.exec(b, `VACUUM ANALYZE webhook_receipt`)
				began := time.Now()
				pool := d.run(b, effect, size, inbox.WorkerOptions{}, inbox.PoolOptions{})
				pool.end(b, receipts)
				working += time.Since(began)
				b.ReportMetric(float64(d.number(b, `SELECT n_dead_tup FROM pg_stat_user_tables
					WHERE relname = 'webhook_receipt'`))/receipts, "dead/receipt")
				d.exec(b, `DELETE FROM webhook_receipt`)
			}
			b.ReportMetric(float64(receipts*b.N)/working.Seconds(), "receipts/s")
		})
	}
}

// One claim from a backlog, and its release into its old place.
func BenchmarkClaim(b *testing.B) {
	for _, backlog := range []int{1000, 1_000_000} {
		b.Run(fmt.Sprint("backlog_", backlog), func(b *testing.B) {
			d := withEffects(b)
			d.exec(b, `ALTER TABLE webhook_receipt DISABLE TRIGGER webhook_receipt_step`)
			d.fill(b, backlog)
			d.exec(b, `ALTER TABLE webhook_receipt ENABLE TRIGGER webhook_receipt_step`)
			d.exec(b, `VACUUM ANALYZE webhook_receipt`)
			w := inbox.NewWorker(d.connect(b), effect, inbox.WorkerOptions{})
			for b.Loop() {
				require.NoError(b, claims(b, w).Release(bounded(b)))
			}
		})
	}
}

// One delivery, straight to the server.
func BenchmarkReceive(b *testing.B) {
	for name, model := range models {
		b.Run(name, func(b *testing.B) {
			d := withEffects(b)
			r := model.make(d.connect(b), inbox.Options{})
			n := 0
			for b.Loop() {
				n++
				does(b, model.new)(r.Receive(bounded(b), named(fmt.Sprint("evt_", n))))
			}
		})
	}
}

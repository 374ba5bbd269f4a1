package webhook

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"webhooklab/lab/inbox"
)

// backlog asks the database at each scrape how old the oldest waiting receipt is.
type backlog struct {
	db      inbox.DB
	up, age *prometheus.Desc
}

func newBacklog(db inbox.DB) backlog {
	return backlog{
		db: db,
		up: prometheus.NewDesc("webhook_database_up",
			"Whether the database answered this scrape.", nil, nil),
		age: prometheus.NewDesc("webhook_oldest_pending_age_seconds",
			"Age of the oldest receipt that no worker has tried yet, by the database's clock.",
			nil, nil),
	}
}

// Describe is [prometheus.Collector]'s.
func (b backlog) Describe(descs chan<- *prometheus.Desc) { descs <- b.up; descs <- b.age }

// The order is that of the index of due receipts: the first one that was never tried is the oldest.
const oldestPendingSQL = `SELECT extract(epoch FROM clock_timestamp() - received_at)::float8
FROM webhook_receipt
WHERE next_attempt_at IS NOT NULL
  AND status = 'pending'
ORDER BY next_attempt_at
LIMIT 1`

// Collect is [prometheus.Collector]'s. A database that doesn't answer within two seconds is down,
// and then there is no age.
func (b backlog) Collect(metrics chan<- prometheus.Metric) {
	var age float64
	err := ask(context.Background(), b.db, oldestPendingSQL, &age)
	if errors.Is(err, pgx.ErrNoRows) {
		age, err = 0, nil
	}
	if err != nil {
		metrics <- prometheus.MustNewConstMetric(b.up, prometheus.GaugeValue, 0)
		return
	}
	metrics <- prometheus.MustNewConstMetric(b.up, prometheus.GaugeValue, 1)
	metrics <- prometheus.MustNewConstMetric(b.age, prometheus.GaugeValue, age)
}

// reachable tells whether the database answers a question at once.
func (l ledger) reachable(ctx context.Context) bool {
	var one int
	return ask(ctx, l.db, `SELECT 1`, &one) == nil
}

// askBound is what a question about health may take.
const askBound = 2 * time.Second

// ask reads one value in a transaction that changes nothing.
func ask(ctx context.Context, db inbox.DB, sql string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, askBound)
	defer cancel()
	tx, err := db.BeginTx(ctx, ledgerBegin)
	if err != nil {
		return err
	}
	err = tx.QueryRow(ctx, sql).Scan(into)
	return errors.Join(err, rollback(ctx, tx))
}

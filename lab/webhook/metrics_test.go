package webhook_test

import (
	"fmt"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// gathered are the counters and gauges as lines, and the counts of histograms.
func (d *door) gathered(t testing.TB) []string {
	t.Helper()
	families, err := d.metrics.Gather()
	require.NoError(t, err)
	var all []string
	for _, family := range families {
		for _, metric := range family.Metric {
			var labels []string
			for _, label := range metric.Label {
				labels = append(labels, label.GetName()+"="+label.GetValue())
			}
			value := metric.GetCounter().GetValue() + metric.GetGauge().GetValue() +
				float64(metric.GetHistogram().GetSampleCount())
			all = append(all, fmt.Sprintf("%s{%s} %v",
				family.GetName(), strings.Join(labels, ","), value))
		}
	}
	sort.Strings(all)
	return all
}

// Duplicates are counted apart from failures, forgeries by route, and nothing by a sender's words.
func TestMetrics(t *testing.T) {
	d := newReceiptDoor(t)
	for _, body := range []string{
		stripeEvent("e1", "paid"), stripeEvent("e1", "paid"), stripeEvent("e2", "fail"), "{}",
	} {
		d.send(t, "/atomic", body)
	}
	d.send(t, "/atomic", "{}", "X-Postscale-Signature", "t=1,v1=2")
	d.send(t, "/atomic", "{}", "X-Postscale-Signature", "")
	d.get(t, "/atomic")
	d.get(t, "/never/seen?q=1")
	require.Equal(t, []string{
		"webhook_answer_seconds{counted_as=duplicate,route=/atomic} 1",
		"webhook_answer_seconds{counted_as=invalid,route=/atomic} 1",
		"webhook_answer_seconds{counted_as=new,route=/atomic} 1",
		"webhook_answer_seconds{counted_as=unavailable,route=/atomic} 1",
		"webhook_bad_signatures_total{reason=missing,route=/atomic} 1",
		"webhook_bad_signatures_total{reason=wrong,route=/atomic} 1",
		"webhook_database_up{} 1",
		"webhook_deliveries_total{counted_as=duplicate,outcome=duplicate,route=/atomic} 1",
		"webhook_deliveries_total{counted_as=invalid,outcome=id_missing,route=/atomic} 1",
		"webhook_deliveries_total{counted_as=new,outcome=processed,route=/atomic} 1",
		"webhook_deliveries_total{counted_as=unavailable,outcome=unavailable,route=/atomic} 1",
		"webhook_oldest_pending_age_seconds{} 0",
		"webhook_turned_away_total{route=/atomic,status=405} 1",
		"webhook_turned_away_total{route=none,status=404} 1",
	}, d.gathered(t))
}

// The age is that of the oldest receipt nobody has tried, by the database's clock.
func TestOldestPendingAge(t *testing.T) {
	d := newReceiptDoor(t)
	d.send(t, "/leased", stripeEvent("e1", "paid"))
	d.exec(t, `ALTER TABLE webhook_receipt DISABLE TRIGGER webhook_receipt_arrival_is_final`)
	d.exec(t, `UPDATE webhook_receipt SET received_at = received_at - interval '1 hour'`)
	d.send(t, "/leased", stripeEvent("e2", "paid"))
	var age float64
	for _, line := range d.gathered(t) {
		_, _ = fmt.Sscanf(line, "webhook_oldest_pending_age_seconds{} %g", &age)
	}
	require.InDelta(t, 3600, age, 60)
}

// A scrape ends soon also when the database doesn't answer, and says so.
func TestScrapeWithoutDatabase(t *testing.T) {
	d := newDoor(t, func(_ *door, b *building) { b.pool, b.wait = 1, 20*time.Millisecond })
	conn, err := d.pool.Acquire(bounded(t))
	require.NoError(t, err)
	defer conn.Release()
	require.Equal(t, []string{"webhook_database_up{} 0"}, d.gathered(t))
}

// An accepted event stays acknowledged when its entry can't be written, and that is counted.
func TestAMissingEntryIsCounted(t *testing.T) {
	d := newDoor(t)
	d.exec(t, `ALTER TABLE webhook_delivery RENAME TO gone`)
	require.Equal(t, "applied", d.send(t, "/snapshots", snapshot("e", "o", 1, `{}`)).Outcome)
	require.Contains(t, d.gathered(t), "webhook_unrecorded_deliveries_total{route=/snapshots} 1")
	require.Contains(t, d.logs.String(), "a delivery has no row in webhook_delivery")
	require.Contains(t, d.logs.String(), "SQLSTATE 42P01")
	require.Equal(t, 503, d.send(t, "/snapshots", "{").Status, "no final refusal without a row")
}

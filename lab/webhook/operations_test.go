package webhook_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
	"webhooklab/lab/webhook"
)

// The failure rate counts what was refused or failed, and no duplicates.
func TestFailureRate(t *testing.T) {
	d := newReceiptDoor(t)
	for _, body := range []string{
		stripeEvent("a", "paid"), stripeEvent("a", "paid"), stripeEvent("a", "paid"),
		stripeEvent("a", "other"), stripeEvent("b", "fail"), "{", stripeEvent("c", "paid"),
		stripeEvent("d", "refuse"),
	} {
		d.send(t, "/atomic", body)
	}
	require.Equal(t, "8 deliveries, 2 duplicates, 1 conflict, 1 invalid, 1 failed: 0.3750",
		d.text(t, `SELECT deliveries || ' deliveries, ' || duplicates || ' duplicates, '
			|| conflict || ' conflict, ' || invalid || ' invalid, ' || told_failed || ' failed: '
			|| failure_rate
		FROM operator_failure_rate`))
}

// A captured delivery under a fresh id, where the id isn't signed: a new event, and it shows.
func TestSameBodyUnderAnotherID(t *testing.T) {
	d := newDoor(t, func(d *door, b *building) {
		if d == nil {
			return
		}
		b.routes = append(b.routes, d.route("/github", webhook.GitHubEvent,
			webhook.Intake(d.db, inbox.Options{})))
	})
	for _, id := range []string{"captured", "captured", "fresh"} {
		d.send(t, "/github", `{"zen": "1"}`, "X-GitHub-Delivery", id, "X-GitHub-Event", "ping")
	}
	d.send(t, "/github", `{"zen": "2"}`, "X-GitHub-Delivery", "other", "X-GitHub-Event", "ping")
	require.Equal(t, "2", d.text(t, `SELECT string_agg(events::text, ' ') FROM operator_same_body`))
}

// Each day's events and duplicates stand under the type that their receiver knows.
func TestDailyCounts(t *testing.T) {
	d := newReceiptDoor(t)
	for i := range 3 {
		d.send(t, "/snapshots", snapshot(fmt.Sprint("s", i), "o", i+1, `{}`))
		d.send(t, "/atomic", stripeEvent(fmt.Sprint("a", i%2), "paid"))
	}
	require.Equal(t, "paid 2+1, snapshot 3+0", d.text(t, `
		SELECT string_agg(type || ' ' || events || '+' || duplicates, ', ' ORDER BY type)
		FROM operator_daily`))
}

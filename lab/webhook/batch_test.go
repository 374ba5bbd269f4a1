package webhook_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
	"webhooklab/lab/webhook"
)

// newBatchDoor opens /batch for arrays of email events, and /atomic for arrays of Stripe's.
func newBatchDoor(t testing.TB) *door {
	d := newDoor(t, func(d *door, b *building) {
		if d == nil {
			return
		}
		emails := d.route("/batch", webhook.PostscaleEvent,
			webhook.Emails(d.db, inbox.Options{}))
		atomic := d.route("/atomic", webhook.StripeEvent,
			webhook.Atomic(d.db, obey, inbox.Options{}))
		emails.Batch, atomic.Batch = true, true
		b.routes = append(b.routes, emails, atomic)
	})
	d.exec(t, `CREATE TABLE effect (event_id text)`)
	return d
}

func email(id, kind string) string {
	return fmt.Sprintf(`{"event_id": %q, "type": %q, "message_id": "m", "recipient": "r",
		"occurred_at": "2026-11-30T12:00:00.5+01:00", "delivery_id": "d1"}`, id, kind)
}

func array(items ...string) string { return "[" + strings.Join(items, ",\n") + "]" }

// Good, bad, good and a duplicate: good ones are kept, bad ones written down, nobody is spoiled.
func TestABadItemSpoilsNoBatch(t *testing.T) {
	d := newBatchDoor(t)
	batch := array(email("e1", "delivered"), `{"event_id": "e2"}`, email("e3", "opened"),
		email("e1", "delivered"), email("e3", "clicked"), `"e4"`, email("e5", "\x01"))
	want := []map[string]any{
		{"index": 0.0, "outcome": "held"},
		{"index": 1.0, "refused": "type_missing"},
		{"index": 2.0, "outcome": "held"},
		{"index": 3.0, "outcome": "duplicate"},
		{"index": 4.0, "refused": "reused_event_id"},
		{"index": 5.0, "refused": "body_not_an_object"},
		{"index": 6.0, "refused": "body_not_json"},
	}
	batch = strings.Replace(batch, `"\x01"`, `{"not": "text"}`, 1)
	want[6]["refused"] = "type_not_a_string"
	r := d.send(t, "/batch", batch)
	require.Equal(t, 200, r.Status, r.Text)
	require.Equal(t, "batch", r.Outcome)
	require.Equal(t, want, r.Items)

	again := d.send(t, "/batch", batch)
	require.Equal(t, 200, again.Status)
	require.Equal(t, "duplicate", again.Items[0]["outcome"])
	require.Equal(t, "duplicate", again.Items[2]["outcome"])
	require.Equal(t, r.Items[4:], again.Items[4:])

	require.Equal(t, 2, d.number(t, `SELECT count(*) FROM email_event`))
	require.Equal(t, 4, d.number(t, `SELECT count(*) FROM webhook_refusal WHERE deliveries = 2`))
	require.Equal(t, "14 deliveries, 2 new, 4 duplicate, 2 conflict, 6 invalid", d.text(t, `
		SELECT deliveries || ' deliveries, ' || new || ' new, ' || duplicate || ' duplicate, '
			|| conflict || ' conflict, ' || invalid || ' invalid'
		FROM operator_deliveries`))
	require.Equal(t, "d1", d.text(t, `
		SELECT DISTINCT delivery_id FROM webhook_delivery WHERE event_id = 'e1'`))
}

// A batch in which one event could not be decided comes again as a whole, and that does no harm.
func TestAnUndecidedItemBringsTheBatchAgain(t *testing.T) {
	d := newBatchDoor(t)
	batch := array(stripeEvent("e1", "paid"), stripeEvent("e2", "fail"), stripeEvent("e3", "paid"))
	for range 2 {
		r := d.send(t, "/atomic", batch)
		require.Equal(t, 503, r.Status)
		require.Equal(t, "batch_incomplete", r.Code)
		require.NotEmpty(t, r.Header.Get("Retry-After"))
	}
	require.Equal(t, 2, d.number(t, `SELECT count(*) FROM effect`))
	require.Equal(t, "processed failed processed", d.text(t, `
		SELECT string_agg(status, ' ' ORDER BY event_id) FROM webhook_receipt`))
}

func TestWhatIsNoBatch(t *testing.T) {
	d := newBatchDoor(t)
	for body, code := range map[string]string{
		"":                     "batch_not_json",
		"[":                    "batch_not_json",
		"[\"\xff\"]":           "batch_not_utf8",
		"[]":                   "batch_empty",
		email("e1", "opened"):  "batch_not_an_array",
		"[" + nested(20_000):   "batch_not_json",
		array(many(1001, "1")): "batch_too_long",
	} {
		r := d.send(t, "/batch", body)
		require.Equal(t, 400, r.Status)
		require.Equal(t, code, r.Code)
	}
	r := d.send(t, "/batch", "["+email("e1", "opened")+"]", "Content-Type", "text/plain")
	require.Equal(t, 415, r.Status)
	require.Equal(t, 8, d.number(t, `SELECT count(*) FROM webhook_delivery
		WHERE counted_as = 'invalid'`))
}

func many(n int, item string) string { return strings.Repeat(item+",", n-1) + item }

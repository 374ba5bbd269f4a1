package webhook_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
	"webhooklab/lab/webhook"
)

// mapped are requests of each provider, what they say in our words, and why they are refused.
var mapped = []struct {
	name    string
	mapping webhook.Mapping
	header  string
	body    string
	want    webhook.Event // without Raw
	reason  string
}{
	{"Standard Webhooks", webhook.StandardWebhooksEvent,
		"Webhook-Id: msg_1\nWebhook-Timestamp: 1\nWebhook-Signature: v1,x",
		`{"type": "order.paid", "data": {"id": "o7", "revision": 3}}`,
		webhook.Event{ID: "msg_1", Type: "order.paid", Object: "o7", Revision: 3,
			Snapshot: []byte(`{"id": "o7", "revision": 3}`),
			Headers: map[string]string{"Webhook-Id": "msg_1", "Webhook-Timestamp": "1",
				"Webhook-Signature": "v1,x"}}, ""},
	{"Svix, with an id that nobody signed", webhook.StandardWebhooksEvent,
		"Svix-Id: msg_1\nSvix-Signature: v1,x", `{"type": "t", "data": null}`,
		webhook.Event{ID: "msg_1", Type: "t", Snapshot: []byte("null"), Headers: map[string]string{
			"Svix-Id": "msg_1", "Svix-Signature": "v1,x"}}, ""},
	{"Standard Webhooks without id", webhook.StandardWebhooksEvent, "", `{}`,
		webhook.Event{Headers: map[string]string{}}, "event_id_missing"},
	{"Stripe", webhook.StripeEvent, "Stripe-Signature: t=1",
		`{"id": "evt_1", "type": "charge.paid", "created": 5, "data": {"object": {"id": "c"}}}`,
		webhook.Event{ID: "evt_1", Type: "charge.paid", Object: "c",
			Snapshot: []byte(`{"id": "c"}`),
			Headers:  map[string]string{"Stripe-Signature": "t=1"}}, ""},
	{"Stripe without id", webhook.StripeEvent, "", `{"type": "t"}`,
		webhook.Event{Headers: map[string]string{}}, "id_missing"},
	{"GitHub", webhook.GitHubEvent, "X-GitHub-Delivery: 72d3162e\nX-GitHub-Event: push",
		`{"repository": {"full_name": "o/r"}}`,
		webhook.Event{ID: "72d3162e", Type: "push", Object: "o/r",
			Headers: map[string]string{}}, ""},
	{"GitHub without id", webhook.GitHubEvent, "X-GitHub-Event: push", `{}`,
		webhook.Event{Headers: map[string]string{}}, "event_id_missing"},
	{"GitHub with two ids", webhook.GitHubEvent, "X-GitHub-Delivery: a\nX-GitHub-Delivery: b",
		`{}`, webhook.Event{Headers: map[string]string{}}, "event_id_missing"},
	{"GitHub without type", webhook.GitHubEvent, "X-GitHub-Delivery: a", `{}`,
		webhook.Event{ID: "a", Headers: map[string]string{}}, "event_type_missing"},
	{"Shopify", webhook.ShopifyEvent,
		"X-Shopify-Event-Id: 98880550\nX-Shopify-Webhook-Id: b54557e4\n" +
			"X-Shopify-Topic: orders/paid", `{"admin_graphql_api_id": "gid://shopify/Order/1"}`,
		webhook.Event{ID: "98880550", Type: "orders/paid", Object: "gid://shopify/Order/1",
			DeliveryID: "b54557e4", Headers: map[string]string{}}, ""},
	{"Shopify with the delivery's id alone", webhook.ShopifyEvent, "X-Shopify-Webhook-Id: b",
		`{}`, webhook.Event{DeliveryID: "b", Headers: map[string]string{}}, "event_id_missing"},
	{"Slack", webhook.SlackEvent, "",
		`{"event_id": "Ev1", "type": "event_callback", "event": {"type": "message", "channel": "C"}}`,
		webhook.Event{ID: "Ev1", Type: "message", Object: "C", Headers: map[string]string{}}, ""},
	{"Slack without event", webhook.SlackEvent, "", `{"event_id": "Ev1", "event": [1]}`,
		webhook.Event{ID: "Ev1", Headers: map[string]string{}}, ""},
	{"Postscale", webhook.PostscaleEvent, "", `{"event_id": "e", "type": "delivered",
		"message_id": "m", "recipient": "r", "delivery_id": "d",
		"occurred_at": "2026-11-30T12:00:00Z"}`,
		webhook.Event{ID: "e", Type: "delivered", Object: "m", Message: "m", Recipient: "r",
			DeliveryID: "d", OccurredAt: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC),
			Headers: map[string]string{}}, ""},
	{"Postscale with another notion of time", webhook.PostscaleEvent, "",
		`{"event_id": "e", "type": "t", "message_id": "m", "recipient": "r", "occurred_at": "5"}`,
		webhook.Event{ID: "e", Type: "t", Object: "m", Message: "m", Recipient: "r",
			Headers: map[string]string{}}, "occurred_at_not_rfc3339"},
}

// Each provider's own names end in the same words; what it doesn't say stays empty.
func TestMappings(t *testing.T) {
	for _, c := range mapped {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.mapping(headers(c.header), []byte(c.body))
			require.Equal(t, c.body, string(got.Raw))
			got.Raw = nil
			require.Equal(t, c.want, got)
			if c.reason == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, inbox.ErrInvalid)
			var failure *inbox.Error
			require.True(t, errors.As(err, &failure))
			require.Equal(t, c.reason, failure.Reason)
		})
	}
}

// Any body under any mapping is an event with an id, or invalid.
func FuzzMappings(f *testing.F) {
	for _, c := range hostileBodies() {
		f.Add([]byte(c.body))
	}
	f.Add([]byte(stripeEvent("e", "t")))
	f.Add([]byte(email("e", "t")))
	f.Add([]byte(`{"data": {"id": "\ud83d\ude00", "revision": 9223372036854775807}, "type": ""}`))
	f.Add([]byte(`{"a": {"\u": 1}, "event": "\\ud800", "event_id": "\\\ud800"}`))
	header := headers("Webhook-Id: a\nX-GitHub-Delivery: b\nX-GitHub-Event: c\n" +
		"X-Shopify-Event-Id: d\nX-Shopify-Topic: e")
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, mapping := range []webhook.Mapping{
			webhook.SnapshotBody, webhook.StandardWebhooksEvent, webhook.StripeEvent,
			webhook.GitHubEvent, webhook.ShopifyEvent, webhook.SlackEvent, webhook.PostscaleEvent,
		} {
			e, err := mapping(header, body)
			if err != nil {
				require.ErrorIs(t, err, inbox.ErrInvalid)
				continue
			}
			require.NotEmpty(t, e.ID)
			require.Empty(t, e.Source)
		}
	})
}

// Any bytes at all, signed, end in one final answer of the door.
func FuzzAnyBodyEndsInAnAnswer(f *testing.F) {
	for _, c := range hostileBodies() {
		f.Add([]byte(c.body))
	}
	f.Add([]byte(array(email("e", "opened"), stripeEvent("e", "paid"), "1")))
	d := newDoor(f, func(d *door, b *building) {
		if d == nil {
			return
		}
		batch := d.route("/batch", webhook.PostscaleEvent, webhook.Emails(d.db, inbox.Options{}))
		batch.Batch = true
		b.routes = append(b.routes, batch,
			d.route("/leased", webhook.StripeEvent, webhook.Intake(d.db, inbox.Options{})))
	})
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, path := range []string{"/snapshots", "/leased", "/batch"} {
			r := d.send(t, path, string(body))
			require.Contains(t, []int{200, 400, 409}, r.Status, r.Text)
		}
	})
}

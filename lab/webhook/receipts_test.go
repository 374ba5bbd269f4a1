package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
	"webhooklab/lab/webhook"
)

// newReceiptDoor opens /atomic and /leased of source "shop" for Stripe's events. The change of an
// atomic event does what its type says.
func newReceiptDoor(t testing.TB) *door {
	d := newDoor(t, func(d *door, b *building) {
		if d == nil {
			return
		}
		b.routes = append(b.routes,
			d.route("/atomic", webhook.StripeEvent,
				webhook.Atomic(d.db, obey, inbox.Options{})),
			d.route("/leased", webhook.StripeEvent, webhook.Intake(d.db, inbox.Options{})))
	})
	d.exec(t, `CREATE TABLE effect (event_id text)`)
	return d
}

func obey(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
	if _, err := tx.Exec(ctx, `INSERT INTO effect VALUES ($1)`, e.ID); err != nil {
		return err
	}
	switch e.Type {
	case "fail":
		return errors.New("not today")
	case "refuse":
		return inbox.Permanent(errors.New("never"))
	case "ignore":
		return inbox.ErrIgnored
	}
	return nil
}

func stripeEvent(id, kind string) string {
	return fmt.Sprintf(`{"id": %q, "type": %q, "data": {"object": {"id": "o"}}}`, id, kind)
}

// Whatever a receipt has come to, its sender is told what it has to do, and no more.
func TestAnswersOfReceipts(t *testing.T) {
	d := newReceiptDoor(t)
	for _, step := range []struct {
		path, body string
		status     int
		says       string
	}{
		{"/atomic", stripeEvent("a1", "paid"), 200, "processed"},
		{"/atomic", stripeEvent("a1", "paid"), 200, "duplicate"},
		{"/atomic", stripeEvent("a1", "other"), 409, "reused_event_id"},
		{"/atomic", stripeEvent("a2", "ignore"), 200, "ignored"},
		{"/atomic", stripeEvent("a3", "refuse"), 200, "rejected"},
		{"/atomic", stripeEvent("a3", "refuse"), 200, "duplicate"},
		{"/atomic", stripeEvent("a4", "fail"), 503, "unavailable"},
		{"/atomic", stripeEvent("a4", "fail"), 503, "unavailable"},
		{"/leased", stripeEvent("l1", "paid"), 200, "accepted"},
		{"/leased", stripeEvent("l1", "paid"), 200, "duplicate"},
		{"/leased", stripeEvent("l1", "other"), 409, "reused_event_id"},
		{"/leased", stripeEvent("a1", "paid"), 200, "duplicate"},
		{"/leased", `{"id": "l2"}`, 400, "type_missing"},
		{"/leased", `{"type": "paid"}`, 400, "id_missing"},
		{"/leased", `{"id": "\u0000", "type": "paid"}`, 400, "event_id_has_nul"},
	} {
		r := d.send(t, step.path, step.body)
		require.Equal(t, step.status, r.Status, "%v: %s", step, r.Text)
		require.Equal(t, step.says, r.Outcome+r.Code, step)
	}
	require.Equal(t, 1, d.number(t, `SELECT count(*) FROM effect WHERE event_id = 'a1'`))
	require.Zero(t, d.number(t, `SELECT count(*) FROM effect WHERE event_id IN ('a3', 'a4')`))
	require.Equal(t, 15, d.number(t, `SELECT deliveries FROM operator_deliveries`))
	require.Equal(t, 2, d.number(t, `SELECT told_failed FROM operator_deliveries`))
}

// The bytes that were signed and the headers that prove it are kept.
func TestReceiptKeepsWhatWasSigned(t *testing.T) {
	d := newReceiptDoor(t)
	body := stripeEvent("l1", "paid") + "\n"
	require.Equal(t, "accepted", d.send(t, "/leased", body).Outcome)
	require.Equal(t, body, d.text(t, `SELECT convert_from(raw_body, 'UTF8') FROM webhook_receipt`))
}

// An old address and a new one side by side: an event that comes to both is processed once.
func TestMigrationWithTwoAddresses(t *testing.T) {
	d := newReceiptDoor(t)
	for i := range 6 {
		paths := []string{"/atomic", "/leased"}
		body := stripeEvent(fmt.Sprint("m", i), "paid")
		first, second := d.send(t, paths[i%2], body), d.send(t, paths[1-i%2], body)
		require.NotEqual(t, "duplicate", first.Outcome)
		require.Equal(t, "duplicate", second.Outcome)
	}
	require.Equal(t, 6, d.number(t, `SELECT count(*) FROM webhook_receipt`))
	require.Equal(t, "6 6", d.text(t, `SELECT new || ' ' || duplicate FROM operator_deliveries`))
}

// The accounts add up: what was delivered is what is there, what came twice and what was refused.
func TestAccountsAddUp(t *testing.T) {
	d := newReceiptDoor(t)
	kinds := []string{"paid", "fail", "refuse", "ignore"}
	told := map[string]int{}
	for i := range 60 {
		path := []string{"/atomic", "/leased"}[i/2%2]
		body := stripeEvent(fmt.Sprint("e", i%23), kinds[i%4])
		if i%11 == 10 {
			body = strings.Replace(body, `"id"`, `"no_id"`, 1)
		}
		d.send(t, path, body)
		told["deliveries"]++
	}
	require.Equal(t, told["deliveries"], d.number(t, `
		SELECT new + duplicate + conflict + invalid FROM operator_deliveries`))
	require.Equal(t,
		d.number(t, `SELECT count(*) FROM webhook_receipt`),
		d.number(t, `SELECT new FROM operator_deliveries`))
	require.Equal(t,
		d.number(t, `SELECT sum(deliveries) FROM webhook_refusal`),
		d.number(t, `SELECT conflict + invalid FROM operator_deliveries`))
}

package inbox_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

// order is an event of source "shop" that asks for an effect.
var order = inbox.Event{
	Source: "shop", ID: "evt_1", Type: "order.paid", Payload: []byte(`{"total": 12}`),
	Raw: []byte(`{"id": "evt_1", "total": 12}`), Headers: map[string]string{"Signature": "v1,x"},
	DeliveryID: "attempt_1",
}

func named(id string) inbox.Event {
	e := order
	e.ID, e.Raw = id, nil
	return e
}

// withEffects adds the table of the changes' effects, which nothing keeps unique.
func withEffects(t testing.TB) *database {
	d := newDatabase(t)
	d.exec(t, `CREATE TABLE effect (event_id text, by text)`)
	return d
}

// effect is the change that each test counts.
func effect(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
	e.Changed("one effect")
	_, err := tx.Exec(ctx, `INSERT INTO effect VALUES ($1, '')`, e.ID)
	return err
}

var errShop = errors.New("the shop is closed")

// does requires what one delivery or attempt comes to.
func does(t testing.TB, want inbox.Outcome) func(inbox.Outcome, error) {
	t.Helper()
	return func(got inbox.Outcome, err error) {
		t.Helper()
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

// failing makes its effect and then fails with err.
func failing(err error) inbox.Change {
	return func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
		return errors.Join(effect(ctx, tx, e), err)
	}
}

// receipt is what its row says, without times: status, attempts, change, reason.
func (d *database) receipt(t testing.TB, id string) string {
	t.Helper()
	var row string
	require.NoError(t, d.pool.QueryRow(bounded(t), `
		SELECT coalesce((
			SELECT concat_ws(' | ', status, attempts, change, failure_reason)
			FROM webhook_receipt
			WHERE source = 'shop' AND event_id = $1), 'none')`, id).Scan(&row))
	return row
}

// steps are a receipt's transitions: attempt, status and actor.
func (d *database) steps(t testing.TB, id string) string {
	t.Helper()
	var steps string
	require.NoError(t, d.pool.QueryRow(bounded(t), `
		SELECT coalesce(string_agg(concat(attempt, ' ', to_status, ' by ', actor), ', '
			ORDER BY transition_no), '')
		FROM receipt_transition
		WHERE source = 'shop' AND event_id = $1`, id).Scan(&steps))
	return steps
}

func (d *database) effects(t testing.TB) int {
	t.Helper()
	return d.number(t, `SELECT count(*) FROM effect`)
}

// addsUp requires the accounting of the operator's views.
func (d *database) addsUp(t testing.TB) {
	t.Helper()
	require.Equal(t, d.number(t, `SELECT count(*) FROM webhook_receipt`),
		d.number(t, `SELECT count(*) FROM webhook_delivery WHERE counted_as = 'new'`),
		"as many receipts as new deliveries")
	require.Equal(t, d.number(t, `SELECT coalesce(sum(deliveries), 0) FROM webhook_refusal`),
		d.number(t, `SELECT count(*) FROM webhook_delivery
			WHERE counted_as IN ('conflict', 'invalid')`), "as many refusals as refused")
	require.Zero(t, d.number(t, `
		SELECT count(*) FROM webhook_receipt AS r
		WHERE status IS DISTINCT FROM (
			SELECT to_status FROM receipt_transition AS s
			WHERE s.source = r.source AND s.event_id = r.event_id
			ORDER BY transition_no DESC LIMIT 1)`), "the last transition is the status")
}

package inbox_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

// What an operator sees, after one of each.
func TestTheOperatorsViews(t *testing.T) {
	d := withEffects(t)
	ctx := bounded(t)
	d.accepted(t, 1, "dead", "pending")
	does(t, inbox.Dead)(d.worker(failing(errShop), inbox.WorkerOptions{}).Work(ctx))
	atomic := inbox.NewAtomic(d.pool, effect, inbox.Options{})
	does(t, inbox.Processed)(atomic.Receive(ctx, named("processed")))
	does(t, inbox.Duplicate)(atomic.Receive(ctx, named("processed")))
	other := named("processed")
	other.Type = "order.void"
	_, err := atomic.Receive(ctx, other)
	require.ErrorIs(t, err, inbox.ErrReusedEventID)
	_, err = inbox.NewAtomic(d.pool, failing(errShop), inbox.Options{}).Receive(ctx, named("failed"))
	require.ErrorIs(t, err, errShop)

	for view, want := range map[string][]string{
		`SELECT concat_ws(' ', source, model, event_type, status, receipts, attempts)
			FROM operator_receipts ORDER BY status`: {
			"shop leased order.paid dead 1 1", "shop atomic order.paid failed 1 1",
			"shop leased order.paid pending 1 0", "shop atomic order.paid processed 1 1",
		},
		`SELECT concat_ws(' ', source, due, backing_off, oldest_pending_age > interval '0',
			longest_overdue < interval '1 min') FROM operator_backlog`: {"shop 1 0 t t"},
		`SELECT concat_ws(' ', source, event_type, status, failure_reason, receipts, attempts)
			FROM operator_reasons ORDER BY status`: {
			"shop order.paid dead the shop is closed 1 1",
			"shop order.paid failed the shop is closed 1 1",
		},
		`SELECT concat_ws(' ', source, deliveries, new, duplicate, conflict, invalid, told_failed)
			FROM operator_deliveries`: {"shop 6 4 1 1 0 1"},
		`SELECT concat_ws(' ', source, reason, constraint_name, refused, deliveries)
			FROM operator_refusals`: {"shop reused_event_id webhook_receipt_event_once 1 1"},
	} {
		rows, err := d.pool.Query(ctx, view)
		require.NoError(t, err)
		got, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	d.addsUp(t)
}

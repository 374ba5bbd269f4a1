package inbox_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

// explaining is a DB that runs each UPDATE of receipts twice: first under EXPLAIN, taken back.
type explaining struct {
	inbox.DB
	plans *[]string
}

func (x explaining) BeginTx(ctx context.Context, o pgx.TxOptions) (pgx.Tx, error) {
	tx, err := x.DB.BeginTx(ctx, o)
	if err != nil {
		return nil, err
	}
	return explainingTx{tx, x.plans}, nil
}

type explainingTx struct {
	pgx.Tx
	plans *[]string
}

func (tx explainingTx) QueryRow(ctx context.Context, sql string, arguments ...any) pgx.Row {
	if strings.HasPrefix(sql, "UPDATE webhook_receipt") {
		*tx.plans = append(*tx.plans, tx.explain(ctx, sql, arguments...))
	}
	return tx.Tx.QueryRow(ctx, sql, arguments...)
}

func (tx explainingTx) explain(ctx context.Context, sql string, arguments ...any) string {
	inner, err := tx.Begin(ctx)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = inner.Rollback(ctx) }()
	rows, err := inner.Query(ctx, `EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) `+sql,
		arguments...)
	if err != nil {
		return err.Error()
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err.Error()
	}
	return strings.Join(lines, "\n")
}

// backlog is a table as it may look on a bad day: receipts done, backing off, and waiting.
func (d *database) backlog(t testing.TB, receipts int) {
	d.fill(t, receipts)
	d.exec(t, `UPDATE webhook_receipt SET status = 'processing', attempts = 1, lease_token = 1,
		next_attempt_at = NULL, last_attempt_at = clock_timestamp(),
		lease_expires_at = clock_timestamp() + interval '1 h' WHERE event_id LIKE '%7'`)
	d.exec(t, `UPDATE webhook_receipt SET status = 'failed', failure_reason = 'r',
		lease_expires_at = NULL, next_attempt_at = clock_timestamp() + interval '1 h'
		WHERE event_id LIKE '%7'`)
}

// The claim reads its two indexes and a handful of pages, however long the backlog is.
func TestAClaimDoesNotGrowWithItsBacklog(t *testing.T) {
	receipts := 100_000
	if testing.Short() {
		receipts = 10_000
	}
	for _, analyzed := range []bool{true, false} {
		t.Run(fmt.Sprint("analyzed ", analyzed), func(t *testing.T) {
			d := withEffects(t)
			d.backlog(t, receipts)
			if analyzed {
				d.exec(t, `VACUUM ANALYZE webhook_receipt`)
			}
			var plans []string
			w := inbox.NewWorker(explaining{d.connect(t), &plans}, effect, inbox.WorkerOptions{})
			lease := claims(t, w)
			require.Equal(t, "evt_1", lease.Event().ID)
			require.NoError(t, lease.Heartbeat(bounded(t)))
			does(t, inbox.Failed)(lease.Fail(bounded(t), errShop))
			require.Len(t, plans, 3)
			if !analyzed {
				plans = plans[:1] // the others have their key, and no reason to be told how
			}
			for _, plan := range plans {
				require.NotContains(t, plan, "Seq Scan", plan)
				require.NotContains(t, plan, "Sort", plan)
				require.NotContains(t, plan, "Bitmap", plan)
				require.Contains(t, plan, "Index Scan using webhook_receipt_event_once", plan)
			}
			require.Contains(t, plans[0], "Index Scan using webhook_receipt_due", plans[0])
			require.Less(t, pages(t, plans[0]), 100, plans[0])
		})
	}
}

// pages is the number of pages that the whole plan touched.
func pages(t testing.TB, plan string) (sum int) {
	t.Helper()
	_, buffers, found := strings.Cut(plan, "Buffers: shared ")
	require.True(t, found, plan)
	buffers, _, _ = strings.Cut(buffers, "\n")
	for _, part := range strings.Fields(buffers) {
		for _, kind := range []string{"hit=", "read="} {
			var n int
			if _, err := fmt.Sscanf(part, kind+"%d", &n); err == nil {
				sum += n
			}
		}
	}
	return sum
}

// A statement that was planned while the table was empty goes on through the index when a backlog
// arrives, before any ANALYZE.
func TestAClaimPlannedOnAnEmptyTableStaysGood(t *testing.T) {
	d := withEffects(t)
	scans := 0
	watched := between{d.connect(t), "COMMIT", func(tx pgx.Tx) {
		var n int
		require.NoError(t, tx.QueryRow(bounded(t),
			`SELECT pg_stat_get_xact_numscans('webhook_receipt'::regclass)`).Scan(&n))
		scans += n
	}}
	w := inbox.NewWorker(watched, effect, inbox.WorkerOptions{})
	for range 10 { // more than it takes for a plan to be kept
		does(t, inbox.Idle)(w.Work(bounded(t)))
	}
	d.fill(t, 10_000)
	for range 10 {
		claims(t, w)
	}
	require.Zero(t, scans, "scans of the whole table")
}

// A heartbeat writes one row version on the same page and no index entry.
func TestAHeartbeatTouchesNoIndex(t *testing.T) {
	d := withEffects(t)
	d.fill(t, 100)
	conn := d.connect(t)
	lease := claims(t, inbox.NewWorker(between{conn, "COMMIT", func(tx pgx.Tx) {}},
		effect, inbox.WorkerOptions{}))
	for range 20 {
		require.NoError(t, lease.Heartbeat(bounded(t)))
	}
	_, err := conn.Exec(bounded(t), `SELECT pg_stat_force_next_flush()`)
	if serverError(err).Code == "42883" {
		t.Skip("before PostgreSQL 15 the counters come when they come")
	}
	require.NoError(t, err)
	require.GreaterOrEqual(t, d.number(t, `SELECT n_tup_hot_upd FROM pg_stat_user_tables
		WHERE relname = 'webhook_receipt'`), 19, "the first may find its page full")
}

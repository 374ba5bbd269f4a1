package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

func TestAnAtomicEventIsProcessedOnce(t *testing.T) {
	d := withEffects(t)
	atomic := inbox.NewAtomic(d.pool, effect, inbox.Options{})
	does(t, inbox.Processed)(atomic.Receive(bounded(t), order))
	does(t, inbox.Duplicate)(atomic.Receive(bounded(t), order))
	does(t, inbox.Duplicate)(atomic.Receive(bounded(t), order))
	require.Equal(t, 1, d.effects(t))
	require.Equal(t, "processed | 1 | one effect", d.receipt(t, "evt_1"))
	require.Equal(t, "1 processing by atomic, 1 processed by atomic", d.steps(t, "evt_1"))
	require.Equal(t, 3, d.number(t, `SELECT deliveries FROM operator_deliveries
		WHERE source = 'shop' AND new = 1 AND duplicate = 2 AND told_failed = 0`))
	d.addsUp(t)
}

func TestAReceiptKeepsWhatArrived(t *testing.T) {
	d := withEffects(t)
	does(t, inbox.Processed)(
		inbox.NewAtomic(d.pool, effect, inbox.Options{}).Receive(bounded(t), order))
	require.Equal(t, 1, d.number(t, `
		SELECT count(*) FROM webhook_receipt AS r JOIN webhook_delivery AS d USING (source, event_id)
		WHERE raw_body = '{"id": "evt_1", "total": 12}' AND payload = '{"total": 12}'
		AND signature_headers = '{"Signature": "v1,x"}' AND event_type = 'order.paid'
		AND delivery_id = 'attempt_1' AND counted_as = 'new' AND answer = 'processed'
		AND max_attempts IS NULL`))
	e := named("evt_2")
	e.DeliveryID, e.Headers = "", nil
	does(t, inbox.Processed)(
		inbox.NewAtomic(d.pool, effect, inbox.Options{}).Receive(bounded(t), e))
	require.Equal(t, 1, d.number(t, `
		SELECT count(*) FROM webhook_receipt AS r JOIN webhook_delivery AS d USING (source, event_id)
		WHERE raw_body = '{"total": 12}' AND signature_headers = '{}' AND delivery_id IS NULL`))
}

func TestAnAtomicFailureIsRecordedAndRunAgain(t *testing.T) {
	d := withEffects(t)
	closed := inbox.NewAtomic(d.pool, failing(errShop), inbox.Options{})
	for range 2 {
		outcome, err := closed.Receive(bounded(t), order)
		failure := failsAs(t, inbox.ErrUnavailable, outcome, err)
		require.Equal(t, "change", failure.Step)
		require.Equal(t, "failed", failure.Reason)
		require.NoError(t, failure.Unrecorded)
		require.ErrorIs(t, failure, errShop)
		require.NotContains(t, failure.Error(), "closed", "a log gets no word of the change's")
	}
	require.Zero(t, d.effects(t))
	require.Equal(t, "failed | 2 | the shop is closed", d.receipt(t, "evt_1"))

	open := inbox.NewAtomic(d.pool, effect, inbox.Options{})
	does(t, inbox.Processed)(open.Receive(bounded(t), order))
	does(t, inbox.Duplicate)(closed.Receive(bounded(t), order))
	require.Equal(t, 1, d.effects(t))
	require.Equal(t, "processed | 3 | one effect", d.receipt(t, "evt_1"))
	require.Equal(t, "1 processing by atomic, 1 failed by atomic, "+
		"2 processing by atomic, 2 failed by atomic, "+
		"3 processing by atomic, 3 processed by atomic", d.steps(t, "evt_1"))
	require.Equal(t, 2, d.number(t, `SELECT told_failed FROM operator_deliveries
		WHERE new = 1 AND duplicate = 3`))
	d.addsUp(t)
}

func TestAPermanentFailureIsAcknowledgedAndNeverRunAgain(t *testing.T) {
	d := withEffects(t)
	runs := 0
	atomic := inbox.NewAtomic(d.pool, func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
		runs++
		return errors.Join(effect(ctx, tx, e), inbox.Permanent(errShop))
	}, inbox.Options{})
	does(t, inbox.Rejected)(atomic.Receive(bounded(t), order))
	does(t, inbox.Duplicate)(atomic.Receive(bounded(t), order))
	require.Equal(t, 1, runs)
	require.Zero(t, d.effects(t))
	require.Contains(t, d.receipt(t, "evt_1"), "rejected | 1 | ")
	d.addsUp(t)
}

func TestATypeThatNobodyHandlesIsProcessedAsIgnored(t *testing.T) {
	d := withEffects(t)
	ignores := func(context.Context, pgx.Tx, inbox.Event) error {
		return fmt.Errorf("no handler: %w", inbox.ErrIgnored)
	}
	atomic := inbox.NewAtomic(d.pool, ignores, inbox.Options{})
	does(t, inbox.Ignored)(atomic.Receive(bounded(t), order))
	does(t, inbox.Duplicate)(atomic.Receive(bounded(t), order))
	require.Equal(t, "processed | 1 | ignored", d.receipt(t, "evt_1"))
}

// Whatever the change does with its transaction, nothing of it outlives its failure.
func TestAChangeCannotEscapeItsTransaction(t *testing.T) {
	d := withEffects(t)
	d.exec(t, `ALTER TABLE effect ADD CONSTRAINT late UNIQUE (by) DEFERRABLE INITIALLY DEFERRED`)
	for name, change := range map[string]inbox.Change{
		"commits": func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
			return errors.Join(effect(ctx, tx, e), tx.Commit(ctx))
		},
		"rolls back": func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
			return errors.Join(effect(ctx, tx, e), tx.Rollback(ctx))
		},
		"hides an error": func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
			_, _ = tx.Exec(ctx, `SELECT 1 / 0`)
			return nil
		},
		"panics": func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
			_ = effect(ctx, tx, e)
			panic("poison")
		},
		"fails at commit": func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
			return errors.Join(effect(ctx, tx, e), effect(ctx, tx, e))
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := named(name)
			outcome, err := inbox.NewAtomic(d.pool, change, inbox.Options{}).Receive(bounded(t), e)
			failure := failsAs(t, inbox.ErrUnavailable, outcome, err)
			require.Equal(t, "failed", failure.Reason, failure)
			require.Contains(t, d.receipt(t, name), "failed | 1 | ")

			d.exec(t, `UPDATE webhook_receipt SET failure_reason = 'x' WHERE event_id = $1`, name)
			leased := inbox.NewWorker(d.pool, change, inbox.WorkerOptions{})
			e.ID += ", leased"
			intake := inbox.NewIntake(d.pool, inbox.Options{})
			does(t, inbox.Accepted)(intake.Receive(bounded(t), e))
			does(t, inbox.Failed)(leased.Work(bounded(t)))
		})
	}
	require.Zero(t, d.effects(t))
}

// What fails to serialize is tried again inside, with its change, and no failure is recorded.
func TestAChangeThatDeadlocksIsRunAgain(t *testing.T) {
	d := withEffects(t)
	runs := 0
	change := func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
		if runs++; runs < 3 {
			_, err := tx.Exec(ctx, `DO $$ BEGIN RAISE 'no' USING ERRCODE = '40P01'; END $$`)
			return err
		}
		return effect(ctx, tx, e)
	}
	does(t, inbox.Processed)(
		inbox.NewAtomic(d.pool, change, inbox.Options{}).Receive(bounded(t), order))
	require.Equal(t, "processed | 1 | one effect", d.receipt(t, "evt_1"))
	require.Equal(t, 1, d.effects(t))
}

// A failure whose record finds that a copy was faster leaves the copy's receipt as it is.
func TestTheRecordOfAFailureNeverOverwritesASuccess(t *testing.T) {
	for _, c := range []struct {
		copy     inbox.Change
		receipt  string
		expected inbox.Outcome
	}{
		{effect, "processed | 1 | one effect", inbox.Duplicate},
		{failing(inbox.Permanent(nil)), "rejected | 1 | ", inbox.Duplicate},
		{failing(errShop), "failed | 2 | ", ""},
	} {
		d := withEffects(t)
		takes := 0
		racing := between{d.pool, "INSERT INTO webhook_receipt", func(pgx.Tx) {
			if takes++; takes == 2 { // the failure was rolled back and is to be recorded
				_, _ = inbox.NewAtomic(d.pool, c.copy, inbox.Options{}).Receive(bounded(t), order)
			}
		}}
		closed := inbox.NewAtomic(racing, failing(errShop), inbox.Options{})
		outcome, err := closed.Receive(bounded(t), order)
		require.Equal(t, c.expected, outcome)
		require.Equal(t, c.expected == "", err != nil, err)
		require.Equal(t, 2, takes)
		require.Contains(t, d.receipt(t, "evt_1"), c.receipt)
		d.addsUp(t)
	}
}

// The record waits for a copy in flight, and is what the copy's end makes it.
func TestTheRecordOfAFailureWaitsForACopy(t *testing.T) {
	for end, want := range map[string]string{
		"COMMIT":   "processed | 1 | faster",
		"ROLLBACK": "failed | 1 | the shop is closed",
	} {
		d := withEffects(t)
		rival, takes := d.connect(t), 0
		conn := d.connect(t)
		racing := between{conn, "INSERT INTO webhook_receipt", func(pgx.Tx) {
			if takes++; takes == 2 {
				_, err := rival.Exec(bounded(t), `BEGIN;
					INSERT INTO webhook_receipt (source, event_id, model, event_type, payload,
						raw_body, status, attempts, actor)
					VALUES ('shop', 'evt_1', 'atomic', 'order.paid', '{"total": 12}', '',
						'processing', 1, 'rival');
					UPDATE webhook_receipt SET status = 'processed', change = 'faster',
						processed_at = clock_timestamp()`)
				require.NoError(t, err)
			}
		}}
		closed := inbox.NewAtomic(racing, failing(errShop), inbox.Options{})
		answers := receiveEvent(t, closed, order)
		d.waitsFor(t, conn.PgConn().PID(), rival.PgConn().PID())
		_, err := rival.Exec(bounded(t), end)
		require.NoError(t, err)
		got := <-answers
		require.Equal(t, end == "ROLLBACK", errors.Is(got.err, errShop))
		require.Equal(t, want, d.receipt(t, "evt_1"))
	}
}

func TestAFailureThatCannotBeRecordedSaysSo(t *testing.T) {
	d := withEffects(t)
	takes := 0
	cut := between{d.pool, "INSERT INTO webhook_receipt", func(tx pgx.Tx) {
		if takes++; takes == 2 {
			d.exec(t, `SELECT pg_terminate_backend($1, 10000)`, tx.Conn().PgConn().PID())
		}
	}}
	outcome, err := inbox.NewAtomic(cut, failing(errShop), inbox.Options{}).
		Receive(bounded(t), order)
	failure := failsAs(t, inbox.ErrUnavailable, outcome, err)
	require.ErrorIs(t, failure.Unrecorded, inbox.ErrUnavailable)
	require.Equal(t, "none", d.receipt(t, "evt_1"))
}

// A caller that gave up still leaves the record of what became of its delivery.
func TestAnAbandonedChangeIsRecorded(t *testing.T) {
	d := withEffects(t)
	ctx, cancel := context.WithCancel(bounded(t))
	waits := func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
		cancel()
		return effect(ctx, tx, e)
	}
	outcome, err := inbox.NewAtomic(d.pool, waits, inbox.Options{}).Receive(ctx, order)
	failure := failsAs(t, inbox.ErrUnavailable, outcome, err)
	require.NoError(t, failure.Unrecorded)
	require.ErrorIs(t, failure, context.Canceled)
	require.Contains(t, d.receipt(t, "evt_1"), "failed | 1 | ")
	require.Zero(t, d.effects(t))
}

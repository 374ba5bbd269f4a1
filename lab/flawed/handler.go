package flawed

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// Atomic is every sin against the contract of the atomic handler, each with the business change
// that it is to make.
func Atomic(change inbox.Change) []Sin {
	return []Sin{
		{"mark_before_effect", "atomic_crash_after_claim", handlerWith(change, markBeforeEffect)},
		{"effect_outside_transaction", "atomic_crash_before_mark",
			handlerWith(change, effectOutsideTransaction)},
		{"handler_error_swallowed", "atomic_failure_is_retried",
			handlerWith(change, handlerErrorSwallowed)},
		{"failure_overwrites_success", "atomic_failure_races_success",
			handlerWith(change, failureOverwritesSuccess)},
	}
}

// handler accepts a receipt, makes the change and marks it, in an order of its own.
type handler struct {
	pool    *pgxpool.Pool
	change  inbox.Change
	process func(context.Context, inbox.Event) (lab.Answer, error)
}

func handlerWith(change inbox.Change, sin func(*handler)) lab.NewReceiver {
	return func(ctx context.Context, dsn string) (lab.Receiver, error) {
		pool, err := open(ctx, dsn)
		if err != nil {
			return nil, err
		}
		h := &handler{pool: pool, change: change}
		sin(h)
		return h, nil
	}
}

func (h *handler) Close() { h.pool.Close() }

func (h *handler) Receive(ctx context.Context, d lab.Delivery) (lab.Answer, error) {
	a, err := h.process(ctx, inbox.Event{
		Source: d.Source, ID: d.EventID, Type: d.Type, Payload: d.Payload,
	})
	if err != nil {
		return lab.Unknown, err
	}
	return a, nil
}

// accept inserts the receipt with this status, or takes up one that failed, and writes the delivery
// down; it says whether there is a change to make.
func (h *handler) accept(
	ctx context.Context, q querier, e inbox.Event, status string,
) (bool, error) {
	var inserted bool
	err := q.QueryRow(ctx, `
INSERT INTO webhook_receipt AS r (source, event_id, event_type, payload, raw_body, model, status,
                                  attempts, last_attempt_at, actor, processed_at, change)
VALUES ($1, $2, $3, $4::jsonb, '{}', 'atomic', $5, 1, clock_timestamp(), 'atomic',
        CASE $5 WHEN 'processed' THEN clock_timestamp() END,
        CASE $5 WHEN 'processed' THEN 'processed' END)
    ON CONFLICT (source, event_id) DO UPDATE
   SET status = excluded.status, attempts = r.attempts + 1
 WHERE r.status = 'failed'
RETURNING xmax = 0`, e.Source, e.ID, e.Type, string(e.Payload), status).Scan(&inserted)
	taken := !errors.Is(err, pgx.ErrNoRows)
	if err != nil && taken {
		return false, err
	}
	counted := "duplicate"
	if inserted {
		counted = "new"
	}
	_, err = found(q.QueryRow(ctx, `
INSERT INTO webhook_delivery (source, event_id, counted_as, answer)
VALUES ($1, $2, $3, 'told') RETURNING true`, e.Source, e.ID, counted))
	return taken, err
}

func (h *handler) mark(ctx context.Context, q querier, e inbox.Event, guard string) error {
	_, err := found(q.QueryRow(ctx, `
UPDATE webhook_receipt
   SET status = 'processed', processed_at = clock_timestamp(), change = 'processed',
       failure_reason = NULL
 WHERE source = $1 AND event_id = $2 `+guard+`
RETURNING true`, e.Source, e.ID))
	return err
}

var (
	done    = lab.Answer{Outcome: "processed", Acked: true}
	errFail = errors.New("the change failed")
)

// markBeforeEffect commits the mark and then makes the change. What dies between the two never
// makes it: the retry is a duplicate.
func markBeforeEffect(h *handler) {
	h.process = func(ctx context.Context, e inbox.Event) (lab.Answer, error) {
		isNew, err := h.accept(ctx, h.pool, e, "processed")
		if err != nil || !isNew {
			return lab.Duplicate, err
		}
		return done, pgx.BeginTxFunc(ctx, h.pool, readCommitted, func(tx pgx.Tx) error {
			return h.change(ctx, tx, e)
		})
	}
}

// effectOutsideTransaction makes the change on a connection of its own, while the claim is still
// open. The claim that is rolled back leaves the change behind.
func effectOutsideTransaction(h *handler) {
	h.process = func(ctx context.Context, e inbox.Event) (a lab.Answer, err error) {
		err = pgx.BeginTxFunc(ctx, h.pool, readCommitted, func(tx pgx.Tx) error {
			isNew, err := h.accept(ctx, tx, e, "processing")
			if err != nil || !isNew {
				a = lab.Duplicate
				return err
			}
			err = pgx.BeginTxFunc(ctx, h.pool, readCommitted, func(other pgx.Tx) error {
				return h.change(ctx, other, e)
			})
			if err != nil {
				return err
			}
			a = done
			return h.mark(ctx, tx, e, "")
		})
		return a, err
	}
}

// handlerErrorSwallowed commits its claim, and takes a change that failed for one that is done.
func handlerErrorSwallowed(h *handler) {
	h.process = func(ctx context.Context, e inbox.Event) (lab.Answer, error) {
		isNew, err := h.accept(ctx, h.pool, e, "processing")
		if err != nil || !isNew {
			return lab.Duplicate, err
		}
		_ = pgx.BeginTxFunc(ctx, h.pool, readCommitted, func(tx pgx.Tx) error {
			return h.change(ctx, tx, e)
		})
		return done, h.mark(ctx, h.pool, e, "")
	}
}

// failureOverwritesSuccess records a failure wherever it finds the receipt, also when a copy has
// succeeded meanwhile. The next delivery makes the change again.
func failureOverwritesSuccess(h *handler) {
	h.process = func(ctx context.Context, e inbox.Event) (a lab.Answer, err error) {
		err = pgx.BeginTxFunc(ctx, h.pool, readCommitted, func(tx pgx.Tx) error {
			isNew, err := h.accept(ctx, tx, e, "processing")
			if err != nil || !isNew {
				a = lab.Duplicate
				return err
			}
			if err := h.change(ctx, tx, e); err != nil {
				return errors.Join(errFail, err)
			}
			a = done
			return h.mark(ctx, tx, e, "")
		})
		if !errors.Is(err, errFail) {
			return a, err
		}
		return lab.Unknown, errors.Join(err, h.fail(ctx, e))
	}
}

func (h *handler) fail(ctx context.Context, e inbox.Event) error {
	_, err := h.pool.Exec(ctx, `
WITH delivery AS (
	INSERT INTO webhook_delivery (source, event_id, counted_as, answer)
	SELECT $1, $2, CASE WHEN EXISTS (
		SELECT FROM webhook_receipt WHERE source = $1 AND event_id = $2)
	       THEN 'duplicate' ELSE 'new' END, 'failed'
)
INSERT INTO webhook_receipt AS r (source, event_id, event_type, payload, raw_body, model, status,
                                  attempts, last_attempt_at, actor, failure_reason)
VALUES ($1, $2, $3, $4::jsonb, '{}', 'atomic', 'failed', 1, clock_timestamp(), 'atomic', 'failed')
    ON CONFLICT (source, event_id) DO UPDATE
   SET status = 'failed', failure_reason = 'failed', change = NULL, processed_at = NULL`,
		e.Source, e.ID, e.Type, string(e.Payload))
	return err
}

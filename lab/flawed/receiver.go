package flawed

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// steps are the places where a receiver can sin. Without a sin they are as sound as the
// reference's, so that each file shows one difference and nothing else.
type steps struct {
	shape   func(lab.Delivery) error
	claim   func(context.Context, querier, lab.Delivery) (bool, error)
	lookUp  func(context.Context, querier, lab.Delivery) (lab.Answer, error)
	advance func(context.Context, querier, lab.Delivery) (lab.Answer, error)
	receive func(context.Context, *receiver, lab.Delivery) (lab.Answer, error)
	tries   int
}

// querier is a transaction or a pool.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

type receiver struct {
	pool *pgxpool.Pool
	steps
}

// with is a receiver that is sound but for what sin changes.
func with(sin func(*steps)) lab.NewReceiver {
	return func(ctx context.Context, dsn string) (lab.Receiver, error) {
		pool, err := open(ctx, dsn)
		if err != nil {
			return nil, err
		}
		s := steps{
			shape: shape, claim: claim, lookUp: lookUp, advance: advance,
			receive: oneTransaction(readCommitted), tries: 3,
		}
		sin(&s)
		return &receiver{pool: pool, steps: s}, nil
	}
}

func (r *receiver) Close() { r.pool.Close() }

func (r *receiver) Receive(ctx context.Context, d lab.Delivery) (lab.Answer, error) {
	if err := r.shape(d); err != nil {
		return lab.Invalid, nil
	}
	for try := 1; ; try++ {
		a, err := r.receive(ctx, r, d)
		if !aborted(err) || try >= r.tries {
			return a, err
		}
	}
}

// readCommitted begins as the reference does, its waits bounded.
var readCommitted = pgx.TxOptions{BeginQuery: "begin isolation level read committed; " +
	"set local lock_timeout = 60000; " +
	"set local statement_timeout = 60000; " +
	"set local idle_in_transaction_session_timeout = 60000"}

// oneTransaction does all three steps in one transaction and answers after its COMMIT.
func oneTransaction(o pgx.TxOptions) func(context.Context, *receiver, lab.Delivery) (
	lab.Answer, error) {
	return func(ctx context.Context, r *receiver, d lab.Delivery) (a lab.Answer, err error) {
		err = pgx.BeginTxFunc(ctx, r.pool, o, func(tx pgx.Tx) error {
			a, err = r.accept(ctx, tx, d)
			return err
		})
		if err != nil {
			return lab.Unknown, err
		}
		return a, nil
	}
}

func (r *receiver) accept(ctx context.Context, q querier, d lab.Delivery) (lab.Answer, error) {
	isNew, err := r.claim(ctx, q, d)
	switch {
	case err != nil:
		return lab.Unknown, err
	case isNew:
		return r.advance(ctx, q, d)
	}
	return r.lookUp(ctx, q, d)
}

// aborted: the server rolled the transaction back by itself, so that it may be tried again.
func aborted(err error) bool {
	code := sqlState(err)
	return code == "40001" || code == "40P01"
}

// shape borrows the reference's own reading of a delivery.
func shape(d lab.Delivery) error {
	return inbox.SnapshotEvent{
		Source: d.Source, EventID: d.EventID,
		ObjectID: d.ObjectID, Revision: d.Revision, Snapshot: d.Snapshot,
	}.Validate()
}

func claim(ctx context.Context, q querier, d lab.Delivery) (bool, error) {
	return found(q.QueryRow(ctx, `
INSERT INTO webhook_inbox (source, event_id, object_id, revision, snapshot)
VALUES ($1, $2, $3, $4, $5::jsonb)
    ON CONFLICT DO NOTHING
RETURNING true`,
		d.Source, d.EventID, d.ObjectID, d.Revision, string(d.Snapshot)))
}

func lookUp(ctx context.Context, q querier, d lab.Delivery) (lab.Answer, error) {
	var same bool
	err := q.QueryRow(ctx, `
SELECT object_id = $3 AND revision = $4 AND snapshot = $5::jsonb
  FROM webhook_inbox
 WHERE source = $1 AND event_id = $2`,
		d.Source, d.EventID, d.ObjectID, d.Revision, string(d.Snapshot)).Scan(&same)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return lab.ReusedRevision, nil
	case err != nil:
		return lab.Unknown, err
	case !same:
		return lab.ReusedEventID, nil
	}
	return lab.Duplicate, nil
}

func advance(ctx context.Context, q querier, d lab.Delivery) (lab.Answer, error) {
	return upsert(ctx, q, d, `WHERE state.revision < excluded.revision`)
}

// upsert moves the object's state if the guard lets it.
func upsert(ctx context.Context, q querier, d lab.Delivery, guard string) (lab.Answer, error) {
	moved, err := found(q.QueryRow(ctx, `
INSERT INTO object_state AS state (source, object_id, revision, snapshot)
VALUES ($1, $2, $3, $4::jsonb)
    ON CONFLICT (source, object_id) DO UPDATE
   SET revision = excluded.revision, snapshot = excluded.snapshot
 `+guard+`
RETURNING true`,
		d.Source, d.ObjectID, d.Revision, string(d.Snapshot)))
	if err != nil || moved {
		return lab.Applied, err
	}
	return lab.Stale, nil
}

func sqlState(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

// found: the statement returned a row.
func found(row pgx.Row) (yes bool, err error) {
	err = row.Scan(&yes)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return yes, err
}

// WithoutSin is sound: it shows that what catches a sin is the sin.
var WithoutSin = with(func(*steps) {})

// WithoutRefusals is what these receivers show: they use the tables of schema.sql, and keep no
// refusals.
var WithoutRefusals = lab.State{
	{Name: "events", SQL: lab.ReferenceState.SQL("events")},
	{Name: "objects", SQL: lab.ReferenceState.SQL("objects")},
}

package webhook

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"webhooklab/lab/inbox"
)

// ledger writes down what receivers don't: deliveries that never reached one, and those of
// receivers that write none. An entry is a transaction of its own, after the receiver's.
type ledger struct{ db inbox.DB }

// ledgerBound is what one entry may take.
const ledgerBound = 5 * time.Second

// ledgerBegin bounds every wait before the first one can be met.
var ledgerBegin = pgx.TxOptions{BeginQuery: fmt.Sprintf("begin isolation level read committed; "+
	"set local lock_timeout = %[1]d; "+
	"set local statement_timeout = %[1]d; "+
	"set local idle_in_transaction_session_timeout = %[1]d", ledgerBound.Milliseconds())}

const deliverySQL = `INSERT INTO webhook_delivery
    (source, event_id, delivery_id, counted_as, answer)
VALUES ($1, $2, nullif($3, ''), $4, $5)`

const refusalSQL = `INSERT INTO webhook_refusal AS known
    (source, event_id, reason, digest)
VALUES ($1, $2, $3, $4)
ON CONFLICT (source, event_id, reason, digest) DO UPDATE
SET deliveries = known.deliveries + 1, -- a sender that insists adds no rows
    last_seen = clock_timestamp()`

// delivery writes down how a delivery was answered that a receiver has decided.
func (l ledger) delivery(ctx context.Context, r result) error {
	return l.write(ctx, func(ctx context.Context, tx pgx.Tx) error {
		return insertDelivery(ctx, tx, r)
	})
}

// refusal writes down a delivery that was refused before it reached a receiver.
func (l ledger) refusal(ctx context.Context, r result) error {
	digest := sha256.Sum256(r.event.Raw)
	return l.write(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, refusalSQL,
			r.event.Source, storable(r.event.ID), r.reason(), digest[:])
		if err != nil {
			return err
		}
		return insertDelivery(ctx, tx, r)
	})
}

func insertDelivery(ctx context.Context, tx pgx.Tx, r result) error {
	counted, answer := r.class()
	_, err := tx.Exec(ctx, deliverySQL, r.event.Source, storable(r.event.ID),
		storable(r.event.DeliveryID), string(counted), answer)
	return err
}

// write gives an error whose text is fit for logs.
func (l ledger) write(ctx context.Context, entry func(context.Context, pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, ledgerBound)
	defer cancel()
	tx, err := l.db.BeginTx(ctx, ledgerBegin)
	if err != nil {
		return &entryError{err}
	}
	err = entry(ctx, tx)
	if err == nil {
		err = tx.Commit(ctx)
	}
	if err != nil {
		return &entryError{errors.Join(err, rollback(ctx, tx))}
	}
	return nil
}

// rollback gives the connection back, also when ctx is over.
func rollback(ctx context.Context, tx pgx.Tx) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := tx.Rollback(ctx); !errors.Is(err, pgx.ErrTxClosed) {
		return err
	}
	return nil
}

// entryError keeps the cause for [errors.As] and out of the text: a server's words may quote rows.
type entryError struct{ cause error }

// Error says what was tried and what the server's code was.
func (e *entryError) Error() string {
	var said *pgconn.PgError
	if errors.As(e.cause, &said) {
		return "webhook: write to webhook_delivery: SQLSTATE " + said.Code
	}
	return "webhook: write to webhook_delivery: the database could not be reached in time"
}

// Unwrap gives the cause.
func (e *entryError) Unwrap() error { return e.cause }

// storableBytes is what the columns of identities hold.
const storableBytes = 1024

// storable gives s itself if such a column can hold it, otherwise an escaped form of it, cut where
// it would be longer.
func storable(s string) string {
	if len(s) <= storableBytes && utf8.ValidString(s) && !strings.ContainsRune(s, 0) {
		return s
	}
	return escaped(s, storableBytes, func(r rune) bool { return r != 0 })
}

// escaped writes as it is what keep wants, escapes the rest, and cuts where the text would have
// more bytes than limit.
func escaped(s string, limit int, keep func(rune) bool) string {
	const ellipsis = "…"
	var text strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		part := s[:size]
		switch {
		case r == utf8.RuneError && size == 1:
			part = fmt.Sprintf(`\x%02x`, s[0])
		case !keep(r):
			part = fmt.Sprintf(`\u%04x`, r)
		}
		if text.Len()+len(part) > limit-len(ellipsis) {
			return text.String() + ellipsis
		}
		text.WriteString(part)
		s = s[size:]
	}
	return text.String()
}

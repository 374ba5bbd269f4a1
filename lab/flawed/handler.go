package flawed

import (
	"context"
	"errors"
	"reflect"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// handlerSteps are the places where a handler that processes what it accepts can sin.
type handlerSteps struct {
	process   func(context.Context, inbox.Event) (lab.Answer, error)
	retake    func(ctx context.Context, q querier, e inbox.Event) (bool, error)
	record    func(ctx context.Context, e inbox.Event, reason error) (lab.Answer, error)
	permanent func(error) bool
}

// handler accepts a receipt, makes the change and marks it.
type handler struct {
	pool   *pgxpool.Pool
	change inbox.Change
	handlerSteps
}

// handlerWith is a handler that is sound but for what sin changes.
func handlerWith(change inbox.Change, sin func(*handler)) lab.NewReceiver {
	return func(ctx context.Context, dsn string) (lab.Receiver, error) {
		pool, err := open(ctx, dsn)
		if err != nil {
			return nil, err
		}
		h := &handler{pool: pool, change: change}
		h.handlerSteps = handlerSteps{h.inOneTransaction, retake, h.recordFailure, isPermanent}
		sin(h)
		return h, nil
	}
}

// HandlerWithoutSin is sound: it shows that what catches a sin is the sin.
func HandlerWithoutSin(change inbox.Change) lab.NewReceiver {
	return handlerWith(change, func(*handler) {})
}

func (h *handler) Close() { h.pool.Close() }

var (
	done            = lab.Answer{Outcome: "processed", Acked: true}
	errOtherContent = errors.New("the event id was accepted before with other content")
)

// changeFailed rolls everything back, so that the failure can be recorded.
type changeFailed struct{ reason error }

func (c changeFailed) Error() string { return "the change failed: " + c.reason.Error() }

func (h *handler) Receive(ctx context.Context, d lab.Delivery) (lab.Answer, error) {
	e := inbox.Event{Source: d.Source, ID: d.EventID, Type: d.Type, Payload: d.Payload}
	a, err := h.process(ctx, e)
	var failed changeFailed
	if errors.As(err, &failed) {
		a, err = h.record(ctx, e, failed.reason)
	}
	switch code := sqlState(err); {
	case errors.Is(err, errOtherContent):
		return lab.ReusedEventID, deliver(ctx, h.pool, e, "conflict")
	case code == "23514", strings.HasPrefix(code, "22"):
		return lab.Invalid, deliver(ctx, h.pool, e, "invalid")
	case err != nil:
		return lab.Unknown, err
	}
	return a, nil
}

// inOneTransaction claims the receipt, makes the change and marks it.
func (h *handler) inOneTransaction(
	ctx context.Context, e inbox.Event,
) (a lab.Answer, err error) {
	err = pgx.BeginTxFunc(ctx, h.pool, readCommitted, func(tx pgx.Tx) error {
		taken, err := h.accept(ctx, tx, e)
		if err != nil || !taken {
			a = lab.Duplicate
			return err
		}
		a, err = h.finish(ctx, tx, e)
		return err
	})
	return a, err
}

// finish makes the change and marks the receipt.
func (h *handler) finish(ctx context.Context, tx pgx.Tx, e inbox.Event) (lab.Answer, error) {
	err := h.change(ctx, tx, e)
	switch {
	case errors.Is(err, inbox.ErrIgnored):
		return lab.Answer{Outcome: "ignored", Acked: true}, mark(ctx, tx, e, "processed", "ignored")
	case err != nil:
		return lab.Unknown, changeFailed{err}
	}
	return done, mark(ctx, tx, e, "processed", "processed")
}

// recordFailure takes the receipt once more, unless a copy has finished it meanwhile.
func (h *handler) recordFailure(
	ctx context.Context, e inbox.Event, reason error,
) (a lab.Answer, err error) {
	status := "failed"
	if h.permanent(reason) {
		status = "rejected"
	}
	err = pgx.BeginTxFunc(ctx, h.pool, readCommitted, func(tx pgx.Tx) error {
		taken, err := h.accept(ctx, tx, e)
		if err != nil || !taken {
			a = lab.Duplicate
			return err
		}
		a = lab.Answer{Outcome: status, Acked: status == "rejected"}
		return mark(ctx, tx, e, status, reason.Error())
	})
	if err == nil && a.Outcome == "failed" {
		return lab.Unknown, reason // it has to come again
	}
	return a, err
}

// permanently is the type of an error that no retry can help against.
var permanently = reflect.TypeOf(inbox.Permanent(nil))

func isPermanent(reason error) bool { return reflect.TypeOf(reason) == permanently }

package inbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Change is what an event does to the business. It works in tx, which the receiver commits together
// with the receipt, so it may run several times and is committed at most once. It never ends tx
// itself. What it does elsewhere is not undone with it.
//
// Nil means done, [ErrIgnored] that there was nothing to do, [Permanent] that no retry can help;
// any other error is retried. A panic is such an error.
type Change func(ctx context.Context, tx pgx.Tx, e Event) error

// ErrIgnored is returned by a change that knows the event's type and has nothing to do for it. The
// receipt is processed, and what the change wrote before stays.
var ErrIgnored = errors.New("nobody handles this type of event")

// Permanent says that the change fails for this reason whenever it is tried: the receipt is
// rejected and the event never processed.
func Permanent(reason error) error { return permanent{reason} }

type permanent struct{ reason error }

func (p permanent) Error() string {
	if p.reason == nil {
		return "rejected"
	}
	return p.reason.Error()
}

func (p permanent) Unwrap() error { return p.reason }

func isPermanent(err error) bool {
	var p permanent
	return errors.As(err, &p)
}

const ignored = "ignored"

// apply runs the change in the open transaction and gives what it says that it changed.
func apply(in statements, change Change, e Event) (string, *Error) {
	said := "processed"
	e.said = &said
	switch err := attempt(in, change, e); {
	case errors.Is(err, ErrIgnored):
		return ignored, nil
	case err != nil:
		return "", changeFailed(err)
	default:
		return said, nil
	}
}

// attempt makes a panic an error, so that one event can't take down those beside it.
func attempt(in statements, change Change, e Event) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("the change panicked: %v", reason)
		}
	}()
	return change(in.ctx, changeTx{in.tx}, e)
}

// changeTx is a transaction that its user can't end.
type changeTx struct{ pgx.Tx }

var errNotYours = errors.New("the receiver ends this transaction: return nil or an error")

func (changeTx) Commit(context.Context) error   { return errNotYours }
func (changeTx) Rollback(context.Context) error { return errNotYours }

// changeFailed is a failure that the receipt has to show.
func changeFailed(err error) *Error {
	failure := failed("change", err)
	failure.Kind, failure.Reason = ErrUnavailable, "failed"
	return failure
}

// ofChange reports whether the change is to blame for a failure of its transaction. What it left
// behind may come out later than its return: an aborted transaction at the next statement, a
// deferred constraint at COMMIT.
func ofChange(failure *Error) bool {
	switch {
	case failure.Step == "change":
		return true
	case failure.Step == "commit" && errors.Is(failure, pgx.ErrTxCommitRollback),
		failure.Step == "commit" && failure.SQLSTATE != "",
		failure.SQLSTATE == "25P02": // in_failed_sql_transaction
		failure.Step, failure.Kind, failure.Reason = "change", ErrUnavailable, "failed"
		return true
	default:
		return false
	}
}

// reasonText is what a receipt keeps of an error. It may quote the payload, which stands beside it.
func reasonText(err error) string {
	var refused *Error
	if errors.As(err, &refused) && refused.cause != nil {
		err = refused.cause
	}
	if err == nil || err.Error() == "" {
		return "no reason given"
	}
	return printable(err.Error(), maxTextBytes)
}

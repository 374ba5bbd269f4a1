package inbox

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// retry says what may be tried inside, before the sender is asked to deliver again.
type retry int

const (
	never          retry = iota
	whole                // the whole transaction, a bounded number of times
	freshStatement       // the whole transaction, once, on statements that are planned anew
)

// class is what one SQLSTATE, or one class of them, means to a sender.
type class struct {
	sqlstate string // a prefix
	kind     error
	reason   string
	retry    retry
}

// classes is searched from the top. What it doesn't list is unavailable too, named "unexpected".
var classes = []class{
	{"40001", ErrUnavailable, "serialization_failure", whole},
	{"40P01", ErrUnavailable, "deadlock", whole},
	{"0A000", ErrUnavailable, "stale_statement", freshStatement}, // after ALTER TABLE: cached plan

	{"08", ErrUnavailable, "connection", never},
	{"53", ErrUnavailable, "insufficient_resources", never}, // disk, memory, connections
	{"55P03", ErrUnavailable, "lock_timeout", never},
	{"57014", ErrUnavailable, "statement_timeout", never}, // or cancelled
	{"57P0", ErrUnavailable, "shutdown", never},
	{"25006", ErrUnavailable, "read_only", never},
	{"58", ErrUnavailable, "system_error", never},

	{"22", ErrInvalid, "refused_data", never},
	{"23514", ErrInvalid, "refused_by_check", never},
	{"54", ErrInvalid, "refused_size", never},

	// The claim's conflict clause covers every unique constraint: the schema isn't ours.
	{"23505", ErrUnavailable, "receiver_fault_uncovered_unique_constraint", never},
}

func classify(sqlstate string) class {
	for _, c := range classes {
		if strings.HasPrefix(sqlstate, c.sqlstate) {
			return c
		}
	}
	return class{sqlstate, ErrUnavailable, "unexpected", never}
}

// failed gives err of a step its kind. The server's codes decide, never its texts.
func failed(step string, err error) *Error {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return &Error{Step: step, Kind: ErrUnavailable, Reason: localReason(err), cause: err}
	}
	c := classify(refused.Code)
	if step == "begin" && c.kind == ErrInvalid {
		// Connecting and beginning carry nothing of the delivery, so it can't be to blame.
		c = class{kind: ErrUnavailable, reason: "unexpected"}
	}
	return &Error{
		Step:       step,
		Kind:       c.kind,
		Reason:     c.reason,
		Constraint: refused.ConstraintName,
		SQLSTATE:   refused.Code,
		cause:      err,
		retry:      c.retry,
	}
}

// localReason names a failure that the server had no word in.
func localReason(err error) string {
	var network net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return "deadline"
	case errors.Is(err, pgx.ErrTxCommitRollback):
		return "commit_rolled_back"
	case errors.Is(err, pgconn.ErrConnClosed),
		errors.Is(err, io.EOF),
		errors.Is(err, io.ErrUnexpectedEOF),
		errors.As(err, &network):
		return "connection"
	default:
		return "unexpected"
	}
}

package inbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

func TestEverySQLSTATEHasOneMeaning(t *testing.T) {
	for _, c := range []struct {
		sqlstate string
		kind     error
		retry    retry
	}{
		{"40001", ErrUnavailable, whole},
		{"40P01", ErrUnavailable, whole},
		{"40003", ErrUnavailable, never}, // completion unknown: retrying could do it twice
		{"0A000", ErrUnavailable, freshStatement},
		{"08000", ErrUnavailable, never},
		{"08006", ErrUnavailable, never},
		{"53100", ErrUnavailable, never},
		{"53200", ErrUnavailable, never},
		{"53300", ErrUnavailable, never},
		{"55P03", ErrUnavailable, never},
		{"57014", ErrUnavailable, never},
		{"57P01", ErrUnavailable, never},
		{"57P02", ErrUnavailable, never},
		{"57P03", ErrUnavailable, never},
		{"25006", ErrUnavailable, never},
		{"25P03", ErrUnavailable, never},
		{"58030", ErrUnavailable, never},
		{"22003", ErrInvalid, never},
		{"22021", ErrInvalid, never},
		{"22P02", ErrInvalid, never},
		{"22P05", ErrInvalid, never},
		{"23514", ErrInvalid, never},
		{"54000", ErrInvalid, never},
		{"54001", ErrInvalid, never},
		{"23505", ErrUnavailable, never},
		{"23502", ErrUnavailable, never},
		{"42P01", ErrUnavailable, never},
		{"42501", ErrUnavailable, never},
		{"XX000", ErrUnavailable, never},
		{"P0001", ErrUnavailable, never},
		{"", ErrUnavailable, never},
	} {
		cause := &pgconn.PgError{Code: c.sqlstate, ConstraintName: "some_constraint"}
		failure := failed("claim", fmt.Errorf("wrapped: %w", cause))
		require.Equal(t, c.kind, failure.Kind, c.sqlstate)
		require.Equal(t, c.retry, failure.retry, c.sqlstate)
		require.Equal(t, c.sqlstate, failure.SQLSTATE)
		require.Equal(t, "some_constraint", failure.Constraint)
		require.NotEmpty(t, failure.Reason)
		require.ErrorIs(t, failure, cause)
	}
}

// A server that can't be reached or begun with has not looked at the delivery.
func TestBeginningNeverBlamesTheDelivery(t *testing.T) {
	for _, sqlstate := range []string{"22023", "54000", "23514"} {
		failure := failed("begin", &pgconn.PgError{Code: sqlstate})
		require.Equal(t, ErrUnavailable, failure.Kind)
		require.Equal(t, "unexpected", failure.Reason)
	}
	full := failed("begin", &pgconn.PgError{Code: "53300"})
	require.Equal(t, "insufficient_resources", full.Reason)
}

func TestFailuresWithoutTheServerAreUnavailable(t *testing.T) {
	for reason, cause := range map[string]error{
		"canceled":           context.Canceled,
		"deadline":           context.DeadlineExceeded,
		"commit_rolled_back": pgx.ErrTxCommitRollback,
		"connection":         &net.OpError{Op: "read", Err: io.ErrClosedPipe},
		"unexpected":         errors.New("anything"),
	} {
		failure := failed("commit", fmt.Errorf("wrapped: %w", cause))
		require.Equal(t, ErrUnavailable, failure.Kind)
		require.Equal(t, reason, failure.Reason)
		require.ErrorIs(t, failure, cause)
	}
	for _, cause := range []error{io.EOF, io.ErrUnexpectedEOF, pgconn.ErrConnClosed} {
		require.Equal(t, "connection", failed("claim", cause).Reason)
	}
}

// The server's words may quote the payload, so they stay out of the text.
func TestAnErrorsTextHoldsNoPayload(t *testing.T) {
	failure := failed("claim", &pgconn.PgError{
		Code: "22P02", Message: "secret", Detail: "secret", Hint: "secret", Where: "secret",
	})
	failure.Unrecorded = failed("record", &pgconn.PgError{Code: "42P01", Message: "secret"})
	require.Equal(t, "inbox: claim: the delivery is invalid: refused_data (SQLSTATE 22P02): "+
		"do not deliver it again as it is; no refusal row was written: "+
		"inbox: record: the database could not do it now: unexpected (SQLSTATE 42P01): "+
		"deliver it again later", failure.Error())
}

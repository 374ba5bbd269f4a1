package inbox

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// leasedTable describes a table whose rows workers lease. It has the columns status, attempts,
// max_attempts, last_attempt_at, next_attempt_at, failure_reason, actor, lease_token and
// lease_expires_at, with the meaning, the constraints and the two indexes of webhook_receipt.
type leasedTable struct {
	name string
	key  []string // its primary key
	came string   // the column that tells when a row came
	held string   // tells the rows that workers hold, as the predicate of the second index does
	data string   // the columns that a claim returns
	done string   // the assignments that finish an attempt with success; {1}, {2} … are values
}

// leases are the statements on one such table. Times are the server's alone. The token decides who
// may finish an attempt; that a lease expired only lets another take the row away.
type leases struct {
	table    leasedTable
	name     string // of whoever claims
	bound    time.Duration
	run      runner
	runClaim runner
	sql      struct{ claim, heartbeat, finish, fail, reject, release, recover string }
}

// byIndex keeps claims on their index, whatever the statistics say of a table that was empty a
// moment ago and holds a backlog now.
const byIndex = "set local enable_seqscan = off; " +
	"set local enable_bitmapscan = off; " +
	"set local enable_sort = off"

func newLeases(db DB, o WorkerOptions, table leasedTable) *leases {
	inTransaction := newTransactor(db, o.Options)
	l := &leases{
		table:    table,
		name:     printable(o.Name, maxSourceBytes),
		bound:    o.Timeout,
		run:      inTransaction.run,
		runClaim: inTransaction.with(byIndex).run,
	}
	fill := table.filler(o)
	l.sql.claim = fill(claimLeaseSQL)
	l.sql.heartbeat = fill(heartbeatSQL)
	l.sql.finish = fill(finishSQL)
	l.sql.fail = fill(failSQL)
	l.sql.reject = fill(rejectSQL)
	l.sql.release = fill(releaseSQL)
	l.sql.recover = fill(recoverSQL)
	return l
}

// filler puts the table's words and the options' times into a template. The parameters of a fenced
// statement are the token, the key, then its own values.
func (t leasedTable) filler(o WorkerOptions) func(string) string {
	var fence strings.Builder
	for i, column := range t.key {
		fmt.Fprintf(&fence, "%s = $%d\n  AND ", column, i+2)
	}
	fence.WriteString("status = 'processing'\n  AND lease_token = $1")
	words := []string{
		"{table}", t.name,
		"{key}", strings.Join(t.key, ", "),
		"{came}", t.came,
		"{held}", t.held,
		"{data}", t.data,
		"{done}", t.done,
		"{fence}", fence.String(),
		"{lease}", fmt.Sprintf("interval '%d microseconds'", max(o.Lease.Microseconds(), 0)),
		"{backoff}", fmt.Sprintf("least(%.6f * 2 ^ (least(attempts, 60) - 1), %.6f)",
			o.Backoff.Seconds(), o.BackoffLimit.Seconds()),
	}
	for i := range 4 {
		words = append(words, fmt.Sprintf("{%d}", i+1), "$"+strconv.Itoa(len(t.key)+2+i))
	}
	// Twice: the table's own words hold values.
	return func(template string) string {
		return strings.NewReplacer(words...).Replace(strings.NewReplacer(words...).Replace(template))
	}
}

const claimLeaseSQL = `UPDATE {table}
SET status = 'processing',
    attempts = attempts + 1, -- before anything can die of it
    last_attempt_at = clock_timestamp(),
    next_attempt_at = NULL,
    lease_token = lease_token + 1,
    lease_expires_at = clock_timestamp() + {lease},
    actor = $1
WHERE ({key}) = ( -- found and locked inside the statement that takes it
    SELECT {key}
    FROM {table}
    WHERE next_attempt_at <= (SELECT clock_timestamp()) -- asked once, so the index can use it
    ORDER BY next_attempt_at
    LIMIT 1
    FOR UPDATE SKIP LOCKED)
RETURNING lease_token, {data}`

// held is a claim on one row. Its methods change nothing and fail with [ErrLeaseLost] once another
// claim was made, or the attempt is over.
type held struct {
	leases *leases
	token  int64
	key    []any
}

// claim takes the row that has been due for longest, whose data it scans into the targets. It
// reports false if none is due. The caller adds the key to what it is given.
func (l *leases) claim(ctx context.Context, data ...any) (h held, found bool, failure *Error) {
	h.leases = l
	targets := append([]any{&h.token}, data...)
	failure = l.runClaim(ctx, func(in statements) *Error {
		err := in.row(l.sql.claim, l.name).Scan(targets...)
		found = err == nil
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return failed("claim", err)
		}
		return nil
	})
	return h, found && failure == nil, failure
}

// recoveryBatch is how many expired leases are recovered by one statement.
const recoveryBatch = 100

// next claims as claim does. If nothing is due it recovers expired leases, and looks once more.
func (l *leases) next(ctx context.Context, data ...any) (h held, found bool, failure *Error) {
	ctx, cancel := context.WithTimeout(ctx, l.bound)
	defer cancel()
	h, found, failure = l.claim(ctx, data...)
	if found || failure != nil {
		return h, found, failure
	}
	recovered, failure := l.recover(ctx, recoveryBatch)
	if recovered == 0 || failure != nil {
		return h, false, failure
	}
	return l.claim(ctx, data...)
}

const heartbeatSQL = `UPDATE {table}
SET lease_expires_at = clock_timestamp() + {lease}
WHERE {fence}
RETURNING status`

// heartbeat makes the lease as long as a new one, also when it had expired but nobody came.
func (h held) heartbeat(ctx context.Context) *Error {
	_, failure := h.alone(ctx, "heartbeat", h.leases.sql.heartbeat)
	return failure
}

const finishSQL = `UPDATE {table}
SET {done},
    failure_reason = NULL,
    lease_expires_at = NULL
WHERE {fence}
RETURNING status`

// finish ends the attempt with success, in the transaction of what it was made for.
func (h held) finish(in statements, values ...any) *Error {
	_, failure := h.fenced(in, "complete", h.leases.sql.finish, values...)
	return failure
}

// mark ends the attempt with success, in a transaction of its own: for what was done elsewhere.
func (h held) mark(ctx context.Context, values ...any) *Error {
	_, failure := h.alone(ctx, "complete", h.leases.sql.finish, values...)
	return failure
}

// The jitter stretches over half the time, so that rows which failed together part.
const failSQL = `UPDATE {table}
SET status = CASE WHEN attempts < max_attempts THEN 'failed' ELSE 'dead' END,
    next_attempt_at = CASE WHEN attempts < max_attempts
        THEN clock_timestamp() + make_interval(secs => {backoff} * (0.5 + random() / 2)) END,
    failure_reason = {1},
    lease_expires_at = NULL
WHERE {fence}
RETURNING status`

const rejectSQL = `UPDATE {table}
SET status = 'rejected',
    failure_reason = {1},
    lease_expires_at = NULL
WHERE {fence}
RETURNING status`

// fail ends the attempt with a reason: failed, dead after the last one, rejected for good.
func (h held) fail(ctx context.Context, reason error) (Outcome, *Error) {
	sql := h.leases.sql.fail
	if isPermanent(reason) {
		sql = h.leases.sql.reject
	}
	status, failure := h.alone(ctx, "fail", sql, reasonText(reason))
	return Outcome(status), failure
}

const releaseSQL = `UPDATE {table}
SET status = 'pending',
    next_attempt_at = {came},        -- before all that came later
    max_attempts = max_attempts + 1, -- the attempt stays counted, but was no failure
    failure_reason = 'released',
    lease_expires_at = NULL
WHERE {fence}
RETURNING status`

// release gives the row back, to be claimed in the order in which it came.
func (h held) release(ctx context.Context) *Error {
	_, failure := h.alone(ctx, "release", h.leases.sql.release)
	return failure
}

// fenced runs a statement that only the holder of the current token may.
func (h held) fenced(in statements, step, sql string, values ...any) (string, *Error) {
	var status string
	arguments := append(append([]any{h.token}, h.key...), values...)
	err := in.row(sql, arguments...).Scan(&status)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", &Error{Step: step, Kind: ErrLeaseLost, Reason: "lease_lost"}
	}
	if err != nil {
		return "", failed(step, err)
	}
	return status, nil
}

// alone runs a fenced statement in a transaction of its own.
func (h held) alone(ctx context.Context, step, sql string, values ...any) (string, *Error) {
	ctx, cancel := context.WithTimeout(ctx, h.leases.bound)
	defer cancel()
	var status string
	failure := h.leases.run(ctx, func(in statements) (failure *Error) {
		status, failure = h.fenced(in, step, sql, values...)
		return failure
	})
	if failure != nil {
		return "", failure
	}
	return status, nil
}

// A row that is locked is being finished or recovered, so it isn't waited for.
const recoverSQL = `UPDATE {table}
SET status = CASE WHEN attempts < max_attempts THEN 'pending' ELSE 'dead' END,
    next_attempt_at = CASE WHEN attempts < max_attempts
        THEN clock_timestamp() + make_interval(secs => {backoff} * (0.5 + random() / 2)) END,
    failure_reason = 'the lease expired: process lost or too slow',
    actor = 'recovery',
    lease_expires_at = NULL
WHERE ctid = ANY (ARRAY(
    SELECT ctid
    FROM {table}
    WHERE {held}
      AND lease_expires_at <= (SELECT clock_timestamp())
    ORDER BY last_attempt_at
    LIMIT $1
    FOR UPDATE SKIP LOCKED))`

// recover takes up to limit rows away from holders whose leases have expired. The attempt stays
// counted: the last one leaves the row dead, others a backoff, in which rows part that were lost
// together with the one that killed their process.
func (l *leases) recover(ctx context.Context, limit int) (recovered int, failure *Error) {
	ctx, cancel := context.WithTimeout(ctx, l.bound)
	defer cancel()
	failure = l.runClaim(ctx, func(in statements) *Error {
		var err error
		if recovered, err = in.count(l.sql.recover, limit); err != nil {
			return failed("recover", err)
		}
		return nil
	})
	if failure != nil {
		return 0, failure
	}
	return recovered, nil
}

package inbox

import (
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
)

// Options bound what a receiver may wait for, and say what its receipts look like. The zero value
// is for production; a field that is zero or negative takes its default. Times are rounded up to
// whole milliseconds.
type Options struct {
	// Attempts is how often a transaction is tried in all when it deadlocks or fails to serialize.
	// Default 3; 1 leaves every retry to the sender.
	Attempts int
	// Timeout bounds one delivery with its retries and refusal row, unless the caller's context
	// ends sooner. Default 30 s.
	Timeout time.Duration
	// LockTimeout bounds each wait for another transaction. It must exceed the server's
	// deadlock_timeout (1 s unless set), or deadlocks look like slow locks. Default 5 s.
	LockTimeout time.Duration
	// StatementTimeout bounds each statement, lock waits included. Default 10 s.
	StatementTimeout time.Duration
	// IdleTimeout is how long the server keeps a transaction, and its locks, whose receiver fell
	// silent. Default 10 s.
	IdleTimeout time.Duration

	// Varying names the parts of a payload that the sender may change from one delivery of an event
	// to the next, such as its own retry counter, each by the keys that lead to it. They take no
	// part in the question whether an event id was reused. Only [Atomic] and [Intake] ask it.
	Varying [][]string
	// MaxAttempts is how often a worker may try a receipt before it is dead, [Intake] stores it
	// with the receipt. Default 10.
	MaxAttempts int
}

func (o Options) withDefaults() Options {
	if o.Attempts <= 0 {
		o.Attempts = 3
	}
	if o.MaxAttempts <= 0 {
		o.MaxAttempts = 10
	}
	o.Timeout = orDefault(o.Timeout, 30*time.Second)
	o.LockTimeout = orDefault(o.LockTimeout, 5*time.Second)
	o.StatementTimeout = orDefault(o.StatementTimeout, 10*time.Second)
	o.IdleTimeout = orDefault(o.IdleTimeout, 10*time.Second)
	return o
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}

// transaction is one Query message: it begins at a level that no role's default can change, and
// bounds every wait before the first statement can meet one.
func (o Options) transaction() pgx.TxOptions {
	return pgx.TxOptions{BeginQuery: fmt.Sprintf("begin isolation level read committed; "+
		"set local lock_timeout = %d; "+
		"set local statement_timeout = %d; "+
		"set local idle_in_transaction_session_timeout = %d",
		milliseconds(o.LockTimeout),
		milliseconds(o.StatementTimeout),
		milliseconds(o.IdleTimeout))}
}

// milliseconds never gives 0, which the server reads as "for ever".
func milliseconds(d time.Duration) int64 {
	if d > math.MaxInt32*time.Millisecond {
		return math.MaxInt32
	}
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

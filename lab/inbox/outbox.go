package inbox

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5"
)

// OutboxMessage is an effect outside the database, to be had because of a change inside. Texts are
// 1 to 1,024 bytes of UTF-8 without NUL.
type OutboxMessage struct {
	// Topic says what is to be done, and by which downstream.
	Topic string
	// Key names this one effect within its topic. The downstream sees it at every try, and by it
	// knows a repetition: derive it from what causes the effect, such as an event id, never from
	// the attempt or the clock.
	Key string
	// Payload is any JSON that PostgreSQL's jsonb can hold, within the limits of a snapshot. The
	// downstream gets it as jsonb writes it, the same bytes at every try.
	Payload json.RawMessage
	// MaxAttempts is how often it is tried before it is dead. Default 10.
	MaxAttempts int
}

const enqueueSQL = `INSERT INTO outbox_message (topic, key, payload, max_attempts)
VALUES ($1, $2, $3::jsonb, $4)
ON CONFLICT DO NOTHING
RETURNING attempts`

const lookUpMessageSQL = `SELECT payload = $3::jsonb
FROM outbox_message
WHERE topic = $1
  AND key = $2`

// Enqueue puts the message into the outbox, inside the transaction of the change that causes it:
// it is sent if that commits, and never if it rolls back. The same message enqueued again is the
// one that is there, sent or not; its key with another payload fails with [ErrReusedKey].
//
// It waits for an open transaction that enqueued the same key: for as long as ctx, the
// transaction's own lock_timeout, and at most 30 s. After an error the transaction has to be
// rolled back.
func Enqueue(ctx context.Context, tx pgx.Tx, m OutboxMessage) error {
	if failure := m.check(); failure != nil {
		return failure
	}
	o := Options{MaxAttempts: m.MaxAttempts}.withDefaults()
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	in := statements{ctx: ctx, tx: tx}
	var attempts int
	err := in.row(enqueueSQL, m.Topic, m.Key, string(m.Payload), o.MaxAttempts).Scan(&attempts)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return asError(lookUpMessage(in, m))
	case err != nil:
		return failed("enqueue", err)
	default:
		return nil
	}
}

// lookUpMessage is a statement of its own: its snapshot sees the rival that was waited for.
func lookUpMessage(in statements, m OutboxMessage) *Error {
	var same bool
	err := in.row(lookUpMessageSQL, m.Topic, m.Key, string(m.Payload)).Scan(&same)
	switch {
	case err != nil: // also no row: purged since the insert met it
		return failed("look up", err)
	case !same:
		return conflict(ErrReusedKey, "reused_key", "outbox_message_once")
	default:
		return nil
	}
}

func (m OutboxMessage) check() *Error {
	if failure := checkTexts(
		boundedText{"topic", m.Topic, maxTextBytes},
		boundedText{"key", m.Key, maxTextBytes},
	); failure != nil {
		return failure
	}
	if m.MaxAttempts > maxMessageAttempts {
		return invalid("max_attempts_out_of_range")
	}
	if problem := payloadProblem(m.Payload); problem != "" {
		return invalid("payload_" + problem)
	}
	return nil
}

// maxMessageAttempts leaves the column room for requeues and releases.
const maxMessageAttempts = 1_000_000

// Sender hands a message to the downstream. Nil means that the downstream has it for good,
// [Permanent] that it never will, any other error that a later try may help. Send is called at
// least once for each message, outside any transaction, possibly by two dispatchers at once, and
// has to stop when ctx ends.
type Sender interface {
	Send(ctx context.Context, m OutboxMessage) error
}

package inbox

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// EmailEvent is one thing that a mail provider says happened to one message on its way to one
// recipient. Texts are 1 to 1,024 bytes of UTF-8 without NUL, source and type at most 255.
type EmailEvent struct {
	// Source names the authenticated sender's namespace. It comes from configuration, never from
	// a body.
	Source string
	// EventID is the same in each retry of an event, and in no other event or correction of the
	// source.
	EventID string
	// MessageID and Recipient name whose state this is. Both are opaque: who wants addresses
	// compared without case folds them before.
	MessageID, Recipient string
	// Type is what happened, in these words, from the lowest rank to the highest:
	//
	//	accepted, queued, sent, processed
	//	deferred, delayed, soft_bounce, soft_bounced
	//	delivered
	//	bounced, hard_bounce, hard_bounced, dropped, failed
	//	complained
	//
	// The flags opened, clicked and unsubscribed have no rank. Any other type is kept in the
	// history and moves nothing. schema.sql holds the list, in email_rank.
	Type string
	// OccurredAt is shown and never decides anything, not even what a duplicate is. It is zero if
	// unknown, or of the years 1 to 9999.
	OccurredAt time.Time
	// Payload is a JSON object that PostgreSQL's jsonb can hold, within the limits of a snapshot.
	// None at all stands for {}.
	Payload json.RawMessage
}

const (
	// Advanced: newly accepted, and the state moved: a higher rank, or a flag that wasn't set.
	Advanced Outcome = "advanced"
	// Unchanged: newly accepted into the history, and the state stays as it is.
	Unchanged Outcome = "unchanged"
	// Held: newly accepted into the history, and counted as soon as what it waits for arrives: an
	// event's message, or the event that a correction voids.
	Held Outcome = "held"
)

// Emails keeps, for each message and recipient, the highest rank and all flags that the events so
// far give, without those that a correction voids. The same events and corrections end in the same
// rows of email_status in whatever order, number and overlap they come, and wherever among them
// the message is added. It is safe for concurrent use if its DB is.
//
// Each call is one transaction that takes its locks in one order: the advisory lock of an event
// id, those of recipients in ascending order of their keys, then rows. So no two calls deadlock.
type Emails struct {
	options Options
	run     runner
}

// NewEmails gives a receiver on the tables email_event, email_status and webhook_refusal.
func NewEmails(db DB, o Options) *Emails {
	o = o.withDefaults()
	return &Emails{options: o, run: newTransactor(db, o).run}
}

// Receive answers after COMMIT has returned: advanced, unchanged, held or duplicate. Otherwise it
// fails with an [*Error] and no change but a row of webhook_refusal where the delivery itself was
// at fault.
func (m *Emails) Receive(ctx context.Context, e EmailEvent) (Outcome, error) {
	return m.accept(ctx, e.Source, e.EventID, e.check(), e.digest,
		func(in statements) (Outcome, *Error) { return receiveEmail(in, e) })
}

// accept runs the transaction of an event or correction whose check gave failure, and records why
// it was refused.
func (m *Emails) accept(
	ctx context.Context, source, eventID string, failure *Error, digest func() [32]byte,
	work func(statements) (Outcome, *Error),
) (Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, m.options.Timeout)
	defer cancel()

	var outcome Outcome
	if failure == nil {
		failure = m.run(ctx, func(in statements) (failure *Error) {
			outcome, failure = work(in)
			return failure
		})
	}
	if failure == nil {
		return outcome, nil
	}
	if failure.Kind != ErrUnavailable {
		refused := refusal{source, eventID, failure.Reason, failure.Constraint, digest()}
		failure.Unrecorded = m.run.record(ctx, refused)
	}
	return "", failure
}

func receiveEmail(in statements, e EmailEvent) (Outcome, *Error) {
	failure := lockEmails(in, e.Source, e.EventID, e.MessageID, e.Recipient)
	if failure != nil {
		return "", failure
	}
	known, failure := keepEmail(in, e)
	switch {
	case failure != nil:
		return "", failure
	case known == nil:
		return lookUpEmail(in, e)
	case !*known:
		return Held, nil
	default:
		return advanceEmail(in, e)
	}
}

const lockEmailsSQL = `SELECT current_setting('transaction_isolation') = 'read committed'
FROM email_lock($1, nullif($2, ''), $3, $4::text[])`

// lockEmails takes the locks of an event id, unless it is "", and of recipients of a message, held
// until the transaction ends. It is a statement of its own, so that the next one sees what the
// holders before have committed.
func lockEmails(in statements, source, eventID, messageID string, recipients ...string) *Error {
	var readCommitted bool
	err := in.row(lockEmailsSQL, source, eventID, messageID, recipients).Scan(&readCommitted)
	switch {
	case err != nil:
		return failed("lock", err)
	case !readCommitted: // all statements see what the first one saw
		return invalid("transaction_not_read_committed")
	default:
		return nil
	}
}

const keepEmailSQL = `INSERT INTO email_event
    (source, event_id, message_id, recipient, type, occurred_at, payload)
VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb)
ON CONFLICT DO NOTHING
RETURNING EXISTS ( -- nobody can add the message meanwhile: we hold its lock
    SELECT FROM email_status
    WHERE source = $1
      AND message_id = $3
      AND recipient = $4)`

// keepEmail puts the event into the history and tells whether its message is known. It gives nil
// when the event id is there already.
func keepEmail(in statements, e EmailEvent) (*bool, *Error) {
	var known bool
	err := in.row(keepEmailSQL, e.Source, e.EventID, e.MessageID, e.Recipient, e.Type,
		e.occurredAt(), e.document()).Scan(&known)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, failed("claim", err)
	}
	return &known, nil
}

const lookUpEmailSQL = `SELECT coalesce( -- null: the id belongs to a correction
       message_id = $3
   AND recipient = $4
   AND type = $5
   AND payload = $6::jsonb, false)
FROM email_event
WHERE source = $1
  AND event_id = $2`

func lookUpEmail(in statements, e EmailEvent) (Outcome, *Error) {
	return isDuplicate(in.row(lookUpEmailSQL,
		e.Source, e.EventID, e.MessageID, e.Recipient, e.Type, e.document()))
}

// isDuplicate reads whether the history holds the same content under the event id.
func isDuplicate(row pgx.Row) (Outcome, *Error) {
	var same bool
	if err := row.Scan(&same); err != nil {
		return "", failed("look up", err)
	}
	if !same {
		return "", conflict(ErrReusedEventID, "reused_event_id", "email_event_once")
	}
	return Duplicate, nil
}

const advanceEmailSQL = `UPDATE email_status
SET rank         = greatest(rank, email_rank($4)), -- which is null for all but the five ranks
    opened       = opened OR $4 = 'opened',
    clicked      = clicked OR $4 = 'clicked',
    unsubscribed = unsubscribed OR $4 = 'unsubscribed'
WHERE source = $1
  AND message_id = $2
  AND recipient = $3
  AND (rank < email_rank($4) -- strictly, decided on the locked row
       OR $4 = 'opened' AND NOT opened
       OR $4 = 'clicked' AND NOT clicked
       OR $4 = 'unsubscribed' AND NOT unsubscribed)
  AND NOT EXISTS ( -- a correction that came first
      SELECT FROM email_event
      WHERE source = $1
        AND voids = $5)
RETURNING true`

// advanceEmail moves the state forward, never back and never sideways.
func advanceEmail(in statements, e EmailEvent) (Outcome, *Error) {
	return moved(Advanced, in.row(advanceEmailSQL,
		e.Source, e.MessageID, e.Recipient, e.Type, e.EventID))
}

// moved gives the outcome if the statement changed the state, else unchanged.
func moved(outcome Outcome, row pgx.Row) (Outcome, *Error) {
	var changed bool
	err := row.Scan(&changed)
	if errors.Is(err, pgx.ErrNoRows) {
		return Unchanged, nil
	}
	if err != nil {
		return "", failed("advance", err)
	}
	return outcome, nil
}

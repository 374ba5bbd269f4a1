package inbox

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// MaxRecipients bounds the recipients of one call of AddMessage: each takes a slot of the server's
// shared lock table, 6,400 of them with default settings, until the transaction ends.
const MaxRecipients = 1000

// EmailMessage is a message that was sent, and to whom.
type EmailMessage struct {
	// Source and MessageID are those that the message's events carry.
	Source, MessageID string
	// Recipients are 1 to [MaxRecipients]. One that stands there twice counts once.
	Recipients []string
}

// AddMessage makes a message known, and gives each recipient the state that the events held until
// now say. What was added before stays as it is, so a repetition does no harm, and recipients can
// be added later. It fails with an [*Error] of kind [ErrInvalid] or [ErrUnavailable].
func (m *Emails) AddMessage(ctx context.Context, message EmailMessage) error {
	if failure := message.check(); failure != nil {
		return failure
	}
	ctx, cancel := context.WithTimeout(ctx, m.options.Timeout)
	defer cancel()
	return asError(m.run(ctx, func(in statements) *Error { return addMessage(in, message) }))
}

// AddMessageTx does as AddMessage inside the caller's transaction, so that the message is known if
// and only if what the caller writes is there. After an error the transaction can only be rolled
// back.
//
// It must be READ COMMITTED: at the levels above, it couldn't see an event that was committed
// while it waited. The recipients' locks are held until it ends, so let it end soon, and call this
// last. Its waits are bounded by ctx, by 30 s, and by the transaction's own lock_timeout. Two
// transactions that add several messages each do so in one order, or may deadlock.
func AddMessageTx(ctx context.Context, tx pgx.Tx, message EmailMessage) error {
	if failure := message.check(); failure != nil {
		return failure
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	in := statements{ctx: ctx, tx: tx}
	return asError(addMessage(in, message))
}

const addMessageSQL = `INSERT INTO email_status
    (source, message_id, recipient, rank, opened, clicked, unsubscribed)
SELECT $1, $2, recipient,
    coalesce(r.rank, 0),
    coalesce(r.opened, false),
    coalesce(r.clicked, false),
    coalesce(r.unsubscribed, false)
FROM unnest($3::text[]) AS new (recipient)
LEFT JOIN (
    SELECT *
    FROM email_recount
    WHERE source = $1
      AND message_id = $2) AS r USING (recipient)
ON CONFLICT DO NOTHING -- known before, or named twice
RETURNING true`

func addMessage(in statements, m EmailMessage) *Error {
	if failure := lockEmails(in, m.Source, "", m.MessageID, m.Recipients...); failure != nil {
		return failure
	}
	var added bool
	err := in.row(addMessageSQL, m.Source, m.MessageID, m.Recipients).Scan(&added)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return failed("apply", err)
	}
	return nil
}

func (m EmailMessage) check() *Error {
	if failure := checkTexts(
		boundedText{"source", m.Source, maxSourceBytes},
		boundedText{"message_id", m.MessageID, maxTextBytes},
	); failure != nil {
		return failure
	}
	if len(m.Recipients) == 0 {
		return invalid("recipients_missing")
	}
	if len(m.Recipients) > MaxRecipients {
		return invalid("recipients_too_many")
	}
	for _, recipient := range m.Recipients {
		if problem := textProblem(recipient, maxTextBytes); problem != "" {
			return invalid("recipient_" + problem)
		}
	}
	return nil
}

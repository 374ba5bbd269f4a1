package inbox

import (
	"context"
	"crypto/sha256"
	"errors"

	"github.com/jackc/pgx/v5"
)

// Correction says that one earlier event of the source didn't happen. It is an event itself, kept
// in the same history. Texts are 1 to 1,024 bytes of UTF-8 without NUL, the source at most 255.
type Correction struct {
	Source string
	// EventID is the correction's own. It is the same in each retry, and in no other event or
	// correction of the source.
	EventID string
	// Voids is the id of the event that no longer counts, whether it has arrived or not. A
	// correction can't be voided: what was voided by mistake is sent again under another id.
	Voids string
	// Reason and Author are for those who read the history.
	Reason, Author string
}

// Corrected: newly accepted, and the state is now what the rest of the history says: it may be
// lower.
const Corrected Outcome = "corrected"

// Correct voids an event, and answers after COMMIT has returned: corrected, unchanged, held or
// duplicate. It fails as Receive does.
func (m *Emails) Correct(ctx context.Context, c Correction) (Outcome, error) {
	return m.accept(ctx, c.Source, c.EventID, c.check(), c.digest,
		func(in statements) (Outcome, *Error) { return correctEmail(in, c) })
}

func correctEmail(in statements, c Correction) (Outcome, *Error) {
	// The event's lock comes first: it can't arrive from here on without seeing the correction.
	if failure := lockEmails(in, c.Source, c.Voids, ""); failure != nil {
		return "", failure
	}
	voided, failure := findVoided(in, c)
	if failure != nil {
		return "", failure
	}
	if voided.isEmail() {
		failure = lockEmails(in, c.Source, "", *voided.messageID, *voided.recipient)
		if failure != nil {
			return "", failure
		}
	}
	known, failure := keepCorrection(in, c, voided)
	switch {
	case failure != nil:
		return "", failure
	case known == nil:
		return lookUpCorrection(in, c)
	case voided.arrived && !voided.isEmail():
		return Unchanged, nil
	case !*known:
		return Held, nil
	default:
		return recountEmail(in, c.Source, *voided.messageID, *voided.recipient)
	}
}

// voided is the event that a correction names, if it has arrived.
type voided struct {
	arrived              bool
	messageID, recipient *string // null in a correction
}

func (v voided) isEmail() bool { return v.messageID != nil }

const findVoidedSQL = `SELECT message_id, recipient
FROM email_event
WHERE source = $1
  AND event_id = $2`

func findVoided(in statements, c Correction) (voided, *Error) {
	v := voided{arrived: true}
	err := in.row(findVoidedSQL, c.Source, c.Voids).Scan(&v.messageID, &v.recipient)
	if errors.Is(err, pgx.ErrNoRows) {
		return voided{}, nil
	}
	if err != nil {
		return voided{}, failed("look up", err)
	}
	return v, nil
}

const keepCorrectionSQL = `INSERT INTO email_event (source, event_id, voids, reason, author)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING
RETURNING EXISTS (
    SELECT FROM email_status
    WHERE source = $1
      AND message_id = $6
      AND recipient = $7)`

// keepCorrection puts the correction into the history and tells whether the voided event's message
// is known. It gives nil when the correction's id is there already.
func keepCorrection(in statements, c Correction, v voided) (*bool, *Error) {
	var known bool
	err := in.row(keepCorrectionSQL, c.Source, c.EventID, c.Voids, c.Reason, c.Author,
		v.messageID, v.recipient).Scan(&known)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, failed("claim", err)
	}
	return &known, nil
}

const lookUpCorrectionSQL = `SELECT coalesce( -- null: the id belongs to an event
       voids = $3
   AND reason = $4
   AND author = $5, false)
FROM email_event
WHERE source = $1
  AND event_id = $2`

func lookUpCorrection(in statements, c Correction) (Outcome, *Error) {
	return isDuplicate(in.row(lookUpCorrectionSQL,
		c.Source, c.EventID, c.Voids, c.Reason, c.Author))
}

const recountEmailSQL = `UPDATE email_status AS s
SET rank         = r.rank,
    opened       = r.opened,
    clicked      = r.clicked,
    unsubscribed = r.unsubscribed
FROM email_recount AS r
WHERE s.source = $1
  AND s.message_id = $2
  AND s.recipient = $3
  AND r.source = $1
  AND r.message_id = $2
  AND r.recipient = $3
  AND (s.rank, s.opened, s.clicked, s.unsubscribed)
      IS DISTINCT FROM (r.rank, r.opened, r.clicked, r.unsubscribed)
RETURNING true`

// recountEmail sets the state to what the history says. Its caller holds the recipient's lock, so
// no event can slip in between reading and writing.
func recountEmail(in statements, source, messageID, recipient string) (Outcome, *Error) {
	return moved(Corrected, in.row(recountEmailSQL, source, messageID, recipient))
}

func (c Correction) check() *Error {
	if failure := checkTexts(
		boundedText{"source", c.Source, maxSourceBytes},
		boundedText{"event_id", c.EventID, maxTextBytes},
		boundedText{"voids", c.Voids, maxTextBytes},
		boundedText{"reason", c.Reason, maxTextBytes},
		boundedText{"author", c.Author, maxTextBytes},
	); failure != nil {
		return failure
	}
	if c.EventID == c.Voids {
		return invalid("voids_itself")
	}
	return nil
}

func (c Correction) digest() [sha256.Size]byte {
	return fieldsDigest(c.EventID, c.Voids, c.Reason, c.Author)
}

package flawed

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// emailSteps are the places where a receiver of email events can sin.
type emailSteps struct {
	lock    func(context.Context, pgx.Tx, emailEvent) error
	early   func(context.Context, pgx.Tx, emailEvent) (lab.Answer, error)
	advance string // the UPDATE of the status: $1 source, $2 message, $3 recipient, $4 type, $5 id
}

type emailEvent struct {
	source, id, message, recipient, kind string
	payload                              string // as JSON
	at                                   *time.Time
}

// mailer adds messages and corrects as the reference does; its receiving is its own.
type mailer struct {
	*inbox.Emails
	pool *pgxpool.Pool
	emailSteps
}

// mailerWith is a receiver of email events that is sound but for what sin changes.
func mailerWith(sin func(*emailSteps)) lab.NewReceiver {
	return func(ctx context.Context, dsn string) (lab.Receiver, error) {
		pool, err := open(ctx, dsn)
		if err != nil {
			return nil, err
		}
		s := emailSteps{lock: lockEmail, early: holdEmail, advance: advanceEmail}
		sin(&s)
		return &mailer{inbox.NewEmails(pool, inbox.Options{}), pool, s}, nil
	}
}

// EmailWithoutSin is sound: it shows that what catches a sin is the sin.
var EmailWithoutSin = mailerWith(func(*emailSteps) {})

func (m *mailer) Close() { m.pool.Close() }

func (m *mailer) AddMessage(ctx context.Context, source, message, recipient string) (
	lab.Answer, error) {
	return lab.Done, m.Emails.AddMessage(ctx, inbox.EmailMessage{
		Source: source, MessageID: message, Recipients: []string{recipient},
	})
}

func (m *mailer) Correct(ctx context.Context, source, event, voids string) (lab.Answer, error) {
	o, err := m.Emails.Correct(ctx, inbox.Correction{
		Source: source, EventID: event, Voids: voids, Reason: "reported in error", Author: "ops",
	})
	if errors.Is(err, inbox.ErrReusedEventID) {
		return lab.ReusedEventID, nil
	}
	return lab.Answer{Outcome: string(o), Acked: true}, err
}

func (m *mailer) Receive(ctx context.Context, d lab.Delivery) (a lab.Answer, err error) {
	e := emailEvent{source: d.Source, id: d.EventID, kind: d.Type, at: occurredAt(d)}
	e.message, e.recipient, _ = strings.Cut(d.ObjectID, " ")
	if e.payload = string(d.Payload); e.payload == "" {
		e.payload = "{}"
	}
	err = pgx.BeginTxFunc(ctx, m.pool, readCommitted, func(tx pgx.Tx) error {
		a, err = m.keep(ctx, tx, e)
		return err
	})
	switch {
	case errors.Is(err, errDropped):
		return lab.Answer{Outcome: "held", Acked: true}, nil
	case err != nil:
		return lab.Unknown, err
	}
	return a, nil
}

// errDropped rolls the event back, which is acknowledged all the same.
var errDropped = errors.New("no such message")

func (m *mailer) keep(ctx context.Context, tx pgx.Tx, e emailEvent) (lab.Answer, error) {
	if err := m.lock(ctx, tx, e); err != nil {
		return lab.Unknown, err
	}
	var known bool
	err := tx.QueryRow(ctx, `
INSERT INTO email_event (source, event_id, message_id, recipient, type, occurred_at, payload)
VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb)
    ON CONFLICT DO NOTHING
RETURNING EXISTS (
	SELECT FROM email_status WHERE source = $1 AND message_id = $3 AND recipient = $4)`,
		e.source, e.id, e.message, e.recipient, e.kind, e.at, e.payload).Scan(&known)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return m.known(ctx, tx, e)
	case err != nil:
		return lab.Unknown, err
	case !known:
		return m.early(ctx, tx, e)
	}
	moved, err := found(tx.QueryRow(ctx, m.emailSteps.advance,
		e.source, e.message, e.recipient, e.kind, e.id))
	if err != nil || moved {
		return lab.Answer{Outcome: "advanced", Acked: true}, err
	}
	return lab.Answer{Outcome: "unchanged", Acked: true}, nil
}

func (m *mailer) known(ctx context.Context, tx pgx.Tx, e emailEvent) (lab.Answer, error) {
	same, err := found(tx.QueryRow(ctx, `
SELECT coalesce(message_id = $3 AND recipient = $4 AND type = $5 AND payload = $6::jsonb, false)
  FROM email_event WHERE source = $1 AND event_id = $2`,
		e.source, e.id, e.message, e.recipient, e.kind, e.payload))
	if err != nil || same {
		return lab.Duplicate, err
	}
	return lab.ReusedEventID, nil
}

func lockEmail(ctx context.Context, tx pgx.Tx, e emailEvent) error {
	_, err := tx.Exec(ctx, `SELECT FROM email_lock($1, $2, $3, ARRAY[$4])`,
		e.source, e.id, e.message, e.recipient)
	return err
}

func holdEmail(context.Context, pgx.Tx, emailEvent) (lab.Answer, error) {
	return lab.Answer{Outcome: "held", Acked: true}, nil
}

const advanceEmail = `
UPDATE email_status
   SET rank = greatest(rank, email_rank($4)),
       opened = opened OR $4 = 'opened',
       clicked = clicked OR $4 = 'clicked',
       unsubscribed = unsubscribed OR $4 = 'unsubscribed'
 WHERE source = $1 AND message_id = $2 AND recipient = $3
   AND (rank < email_rank($4) OR $4 = 'opened' AND NOT opened
        OR $4 = 'clicked' AND NOT clicked OR $4 = 'unsubscribed' AND NOT unsubscribed)
   AND NOT EXISTS (SELECT FROM email_event WHERE source = $1 AND voids = $5)
RETURNING true`

// occurredAt is the time that the provider writes into its payload.
func occurredAt(d lab.Delivery) *time.Time {
	var p struct {
		At *time.Time `json:"at"`
	}
	_ = json.Unmarshal(d.Payload, &p) // an event without a time has none
	return p.At
}

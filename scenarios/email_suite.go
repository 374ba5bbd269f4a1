package scenarios

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
	"webhooklab/properties"
)

// EmailSuite is the contract of email status: forward only, whatever the order.
var EmailSuite = Suite{
	Name:     "email",
	Title:    "Email status: forward only",
	Receiver: Emails,
	State: lab.State{
		{Name: "statuses", Once: true, SQL: `
SELECT source, message_id, recipient, rank, opened, clicked, unsubscribed
  FROM email_status`},
		{Name: "history", Once: true, SQL: `
SELECT source, event_id, message_id, recipient, type, voids
  FROM email_event`},
	},
	Laws:     properties.Emails,
	Programs: EmailPrograms,
	Swept:    sweptEmails,
	Scenarios: []lab.Scenario{
		EmailForwardOnly,
		EmailTiesInTime,
		EmailFlagsStandBeside,
		EmailSameEventInFlight,
		EmailReusedEventID,
		EmailReusedInAnyPart,
		EmailNothingNew,
		EmailMailboxesStayApart,
		EmailBeforeItsMessage,
		EmailWhileMessageIsAdded,
		MessageWhileEmailIsKept,
		EmailCorrectedAfterwards,
		EmailCorrectedBeforehand,
		EmailCorrectedInFlight,
		EmailCommitAckLost,
		EmailOlderWaitsForNewer,
		EmailLocksInOneOrder,
		EmailEveryOrder,
		EmailReleasedTogether,
	},
	NotPromised: emailsDoNotPromise,
}

// A Mailer is a receiver of email events with the two things that come from elsewhere.
type Mailer interface {
	lab.Receiver
	AddMessage(ctx context.Context, source, message, recipient string) (lab.Answer, error)
	Correct(ctx context.Context, source, event, voids string) (lab.Answer, error)
}

// The answers of the email contract.
var (
	advanced  = lab.Answer{Outcome: "advanced", Acked: true}
	unchanged = lab.Answer{Outcome: "unchanged", Acked: true}
	held      = lab.Answer{Outcome: "held", Acked: true}
	corrected = lab.Answer{Outcome: "corrected", Acked: true}
)

// email is an event of the one message to the one recipient that the stories are about.
func email(kind string) lab.Delivery {
	return lab.Delivery{
		Source: "mail", EventID: "evt_" + kind, Type: kind, ObjectID: "welcome ann@example.org",
	}
}

// added makes the message of the stories known.
func added(s *lab.Session, l *lab.Lab) *lab.Session {
	source := l.Source("mail")
	return s.Do("add message welcome", func(ctx context.Context, r lab.Receiver) (lab.Answer, error) {
		return r.(Mailer).AddMessage(ctx, source, "welcome", "ann@example.org")
	})
}

// voided corrects one event of the stories.
func voided(s *lab.Session, l *lab.Lab, kind string) *lab.Session {
	source := l.Source("mail")
	return s.Do("void evt_"+kind, func(ctx context.Context, r lab.Receiver) (lab.Answer, error) {
		return r.(Mailer).Correct(ctx, source, "fix_"+kind, "evt_"+kind)
	})
}

// Emails is the reference receiver of email events over a pool of its own.
func Emails(ctx context.Context, dsn string) (lab.Receiver, error) {
	pool, err := open(ctx, dsn)
	if err != nil {
		return nil, err
	}
	return &emails{pool: pool, receiver: inbox.NewEmails(pool, patient)}, nil
}

type emails struct {
	pool     *pgxpool.Pool
	receiver *inbox.Emails
}

func (e *emails) Close() { e.pool.Close() }

func (e *emails) Receive(ctx context.Context, d lab.Delivery) (lab.Answer, error) {
	message, recipient, _ := strings.Cut(d.ObjectID, " ")
	return answer(e.receiver.Receive(ctx, inbox.EmailEvent{
		Source: d.Source, EventID: d.EventID, Type: d.Type,
		MessageID: message, Recipient: recipient, Payload: d.Payload, OccurredAt: occurredAt(d),
	}))
}

// occurredAt is the time that the provider writes into its payload.
func occurredAt(d lab.Delivery) time.Time {
	var p struct {
		At time.Time `json:"at"`
	}
	_ = json.Unmarshal(d.Payload, &p) // an event without a time has none
	return p.At
}

func (e *emails) AddMessage(ctx context.Context, source, message, recipient string) (
	lab.Answer, error) {
	err := e.receiver.AddMessage(ctx, inbox.EmailMessage{
		Source: source, MessageID: message, Recipients: []string{recipient},
	})
	if err != nil {
		return lab.Unknown, fmt.Errorf("add message: %w", err)
	}
	return lab.Done, nil
}

func (e *emails) Correct(ctx context.Context, source, event, voids string) (lab.Answer, error) {
	return answer(e.receiver.Correct(ctx, inbox.Correction{
		Source: source, EventID: event, Voids: voids, Reason: "reported in error", Author: "ops",
	}))
}

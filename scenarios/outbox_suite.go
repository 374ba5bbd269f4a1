package scenarios

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
	"webhooklab/properties"
)

// OutboxSuite is the contract of effects outside the database.
var OutboxSuite = Suite{
	Name:     "outbox",
	Title:    "Outbox: effects outside the database",
	Receiver: Outbox,
	State: lab.State{
		{Name: "messages", SQL: `
SELECT topic AS source, key, status, attempts
  FROM outbox_message`},
		{Name: "effects", SQL: `
SELECT source, event_id
  FROM effect`},
		{Name: "calls", SQL: `
SELECT source, key, row_number() OVER (PARTITION BY source, key ORDER BY call_no) AS call
  FROM downstream_call`},
		{Name: "mails", Once: true, SQL: `
SELECT source, key
  FROM downstream_mail`},
	},
	Laws:     properties.Outbox,
	Effects:  effects + downstream,
	Reset:    forget("outbox_message"),
	Programs: slices.Concat(OutboxPrograms, OutboxInputs),
	Swept:    sweptOutbox,
	Scenarios: []lab.Scenario{
		OutboxSentOnce,
		OutboxRolledBackSendsNothing,
		OutboxCrashBeforeEnqueue,
		OutboxUncommittedIsNotSent,
		OutboxCommitsLate,
		OutboxSameKey,
		OutboxKeysStayApart,
		OutboxDownstreamAckLost,
		OutboxCrashBeforeMark,
		OutboxMarkAckLost,
		OutboxPausedDispatcher,
		OutboxDispatchersShareNothing,
		OutboxReleasedTogether,
	},
	NotPromised: outboxDoesNotPromise,
}

// downstream is a system outside that counts: every call it gets, and what it did, once for each
// key.
const downstream = `
CREATE TABLE downstream_call (
	call_no bigint GENERATED ALWAYS AS IDENTITY,
	source  text COLLATE "C" NOT NULL,
	key     text COLLATE "C" NOT NULL
);
CREATE TABLE downstream_mail (
	source text COLLATE "C", key text COLLATE "C", PRIMARY KEY (source, key)
);`

// A Poster makes a business change with a message for outside, and posts the messages.
type Poster interface {
	lab.Receiver
	Dispatch(ctx context.Context) (lab.Answer, error)
	Recover(ctx context.Context) (lab.Answer, error)
}

var sent = lab.Answer{Outcome: "sent", Acked: true}

func posts(s *lab.Session) *lab.Session { return s.Do("dispatch", poster(Poster.Dispatch)) }

func recoversMail(s *lab.Session) *lab.Session {
	return s.Do("recover", poster(Poster.Recover))
}

func poster(do func(Poster, context.Context) (lab.Answer, error)) func(
	context.Context, lab.Receiver) (lab.Answer, error) {
	return func(ctx context.Context, r lab.Receiver) (lab.Answer, error) {
		return do(r.(Poster), ctx)
	}
}

// expireMail ends every dispatcher's lease now; dueMail every backoff.
func expireMail(l *lab.Lab) {
	l.SQL(`UPDATE outbox_message SET lease_expires_at = clock_timestamp()
 WHERE status = 'processing'`)
}
func dueMail(l *lab.Lab) {
	l.SQL(`UPDATE outbox_message SET next_attempt_at = clock_timestamp()
 WHERE next_attempt_at > clock_timestamp()`)
}

// Outbox is the reference: a change that enqueues its message, and a dispatcher.
func Outbox(ctx context.Context, dsn string) (lab.Receiver, error) {
	pool, err := open(ctx, dsn)
	if err != nil {
		return nil, err
	}
	return &outbox{pool: pool, dispatcher: inbox.NewDispatcher(pool, mailer{pool},
		inbox.WorkerOptions{Options: patient, Lease: time.Hour, Backoff: time.Hour}),
	}, nil
}

type outbox struct {
	pool       *pgxpool.Pool
	dispatcher *inbox.Dispatcher
}

func (o *outbox) Close() { o.pool.Close() }

// Receive makes the change of an order and enqueues the mail about it; a cancelled order fails
// after both.
func (o *outbox) Receive(ctx context.Context, d lab.Delivery) (lab.Answer, error) {
	err := pgx.BeginTxFunc(ctx, o.pool, pgx.TxOptions{}, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO effect (source, event_id, note) VALUES ($1, $2, $3)`,
			d.Source, d.EventID, d.Type)
		if err != nil {
			return err
		}
		err = inbox.Enqueue(ctx, tx, inbox.OutboxMessage{
			Topic: d.Source, Key: d.EventID, Payload: d.Payload,
		})
		if err == nil && d.Type == "order.cancelled" {
			return errors.New("cancelled meanwhile")
		}
		return err
	})
	if errors.Is(err, inbox.ErrReusedKey) {
		return lab.ReusedEventID, nil
	}
	if err != nil {
		return lab.Unknown, err
	}
	return lab.Done, nil
}

func (o *outbox) Dispatch(ctx context.Context) (lab.Answer, error) {
	return leaseAnswer(o.dispatcher.Dispatch(ctx))
}

func (o *outbox) Recover(ctx context.Context) (lab.Answer, error) {
	n, err := o.dispatcher.Recover(ctx, 100)
	return lab.Answer{Outcome: fmt.Sprintf("recovered %d", n), Acked: true}, err
}

// mailer calls the system outside, in one statement that is its own transaction.
type mailer struct{ pool *pgxpool.Pool }

func (m mailer) Send(ctx context.Context, message inbox.OutboxMessage) error {
	_, err := m.pool.Exec(ctx, `
WITH counted AS (
	INSERT INTO downstream_call (source, key) VALUES ($1, $2)
)
INSERT INTO downstream_mail (source, key) VALUES ($1, $2)
    ON CONFLICT DO NOTHING`, message.Topic, message.Key)
	return err
}

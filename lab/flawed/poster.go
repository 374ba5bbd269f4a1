package flawed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// posterSteps are the places where one who makes a change and sends its message can sin.
type posterSteps struct {
	receive  func(context.Context, lab.Delivery) error
	due      string // the messages that may be claimed
	dispatch func(context.Context, message) error
	key      func(message) string // what the downstream is told
	mark     string               // the UPDATE of what was sent: $1 topic, $2 key, $3 token
}

type message struct {
	topic, key      string
	attempts, token int64
}

// poster makes a change, enqueues its message and dispatches; it recovers as the reference does.
type poster struct {
	pool     *pgxpool.Pool
	recovery *inbox.Dispatcher
	posterSteps
}

// posterWith is a poster that is sound but for what sin changes.
func posterWith(sin func(*poster)) lab.NewReceiver {
	return func(ctx context.Context, dsn string) (lab.Receiver, error) {
		pool, err := open(ctx, dsn)
		if err != nil {
			return nil, err
		}
		p := &poster{pool: pool, recovery: inbox.NewDispatcher(pool, nil,
			inbox.WorkerOptions{Lease: time.Hour, Backoff: time.Hour})}
		p.posterSteps = posterSteps{
			p.inOneTransaction, `next_attempt_at <= clock_timestamp()`, p.sendThenMark,
			func(m message) string { return m.key }, markFenced,
		}
		sin(p)
		return p, nil
	}
}

// PosterWithoutSin is sound: it shows that what catches a sin is the sin.
var PosterWithoutSin = posterWith(func(*poster) {})

func (p *poster) Close() { p.pool.Close() }

func (p *poster) Receive(ctx context.Context, d lab.Delivery) (lab.Answer, error) {
	err := p.receive(ctx, d)
	switch {
	case errors.Is(err, inbox.ErrReusedKey):
		return lab.ReusedEventID, nil
	case err != nil:
		return lab.Unknown, err
	}
	return lab.Done, nil
}

// inOneTransaction makes the change and enqueues its message.
func (p *poster) inOneTransaction(ctx context.Context, d lab.Delivery) error {
	return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		if err := makeChange(ctx, tx, d); err != nil {
			return err
		}
		return enqueue(ctx, tx, d)
	})
}

func makeChange(ctx context.Context, tx pgx.Tx, d lab.Delivery) error {
	_, err := tx.Exec(ctx, `INSERT INTO effect (source, event_id, note) VALUES ($1, $2, $3)`,
		d.Source, d.EventID, d.Type)
	return err
}

// enqueue puts the message into the outbox; a cancelled order fails after that.
func enqueue(ctx context.Context, tx pgx.Tx, d lab.Delivery) error {
	err := inbox.Enqueue(ctx, tx, inbox.OutboxMessage{
		Topic: d.Source, Key: d.EventID, Payload: d.Payload,
	})
	if err == nil && d.Type == "order.cancelled" {
		return errors.New("cancelled meanwhile")
	}
	return err
}

func (p *poster) Recover(ctx context.Context) (lab.Answer, error) {
	n, err := p.recovery.Recover(ctx, 100)
	return leased(inbox.Outcome(fmt.Sprintf("recovered %d", n)), err)
}

func (p *poster) Dispatch(ctx context.Context) (lab.Answer, error) {
	m, err := p.claim(ctx)
	if errors.Is(err, pgx.ErrNoRows) {
		return leased(inbox.Idle, nil)
	}
	if err != nil {
		return lab.Unknown, err
	}
	err = p.dispatch(ctx, m)
	if errors.Is(err, errNotSent) {
		return leased(inbox.Failed, p.fail(ctx, m))
	}
	return leased(inbox.Sent, err)
}

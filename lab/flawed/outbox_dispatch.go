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

// OutboxMarkNotFenced marks a message as sent by its key. A dispatcher that was paused past its
// lease takes the mark of another for its own.
func OutboxMarkNotFenced(ctx context.Context, dsn string) (lab.Receiver, error) {
	return newPoster(ctx, dsn, func(ctx context.Context, p *poster, topic, key string) error {
		if err := p.send(ctx, topic, key); err != nil {
			return err
		}
		return p.mark(ctx, topic, key)
	})
}

// OutboxMarkedBeforeSend marks and then sends. What dies between the two is never sent.
func OutboxMarkedBeforeSend(ctx context.Context, dsn string) (lab.Receiver, error) {
	return newPoster(ctx, dsn, func(ctx context.Context, p *poster, topic, key string) error {
		if err := p.mark(ctx, topic, key); err != nil {
			return err
		}
		return p.send(ctx, topic, key)
	})
}

// poster enqueues with the change, recovers as the reference does, and dispatches its own way.
type poster struct {
	pool     *pgxpool.Pool
	recovery *inbox.Dispatcher
	dispatch func(ctx context.Context, p *poster, topic, key string) error
}

func newPoster(
	ctx context.Context, dsn string,
	dispatch func(ctx context.Context, p *poster, topic, key string) error,
) (lab.Receiver, error) {
	pool, err := open(ctx, dsn)
	if err != nil {
		return nil, err
	}
	return &poster{pool, inbox.NewDispatcher(pool, nil,
		inbox.WorkerOptions{Lease: time.Hour, Backoff: time.Hour}), dispatch}, nil
}

func (p *poster) Close() { p.pool.Close() }

func (p *poster) Receive(ctx context.Context, d lab.Delivery) (lab.Answer, error) {
	err := pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO effect (source, event_id, note) VALUES ($1, $2, $3)`,
			d.Source, d.EventID, d.Type)
		if err != nil {
			return err
		}
		return inbox.Enqueue(ctx, tx, inbox.OutboxMessage{
			Topic: d.Source, Key: d.EventID, Payload: d.Payload,
		})
	})
	return lab.Done, err
}

func (p *poster) Recover(ctx context.Context) (lab.Answer, error) {
	n, err := p.recovery.Recover(ctx, 100)
	return leased(inbox.Outcome(fmt.Sprintf("recovered %d", n)), err)
}

func (p *poster) Dispatch(ctx context.Context) (lab.Answer, error) {
	var topic, key string
	err := p.pool.QueryRow(ctx, `
UPDATE outbox_message
   SET status = 'processing', attempts = attempts + 1, lease_token = lease_token + 1,
       last_attempt_at = clock_timestamp(), next_attempt_at = NULL,
       lease_expires_at = clock_timestamp() + interval '1 hour'
 WHERE (topic, key) = (
	SELECT topic, key FROM outbox_message
	 WHERE next_attempt_at <= clock_timestamp()
	 ORDER BY next_attempt_at
	 LIMIT 1
	 FOR UPDATE SKIP LOCKED)
RETURNING topic, key`).Scan(&topic, &key)
	if errors.Is(err, pgx.ErrNoRows) {
		return leased(inbox.Idle, nil)
	}
	if err == nil {
		err = p.dispatch(ctx, p, topic, key)
	}
	return leased(inbox.Sent, err)
}

func (p *poster) send(ctx context.Context, topic, key string) error {
	_, err := p.pool.Exec(ctx, `
WITH counted AS (
	INSERT INTO downstream_call (source, key) VALUES ($1, $2)
)
INSERT INTO downstream_mail (source, key) VALUES ($1, $2)
    ON CONFLICT DO NOTHING`, topic, key)
	return err
}

func (p *poster) mark(ctx context.Context, topic, key string) error {
	_, err := p.pool.Exec(ctx, `
UPDATE outbox_message
   SET status = 'sent', sent_at = clock_timestamp(), lease_expires_at = NULL
 WHERE topic = $1 AND key = $2 AND status <> 'sent'`, topic, key)
	return err
}

package flawed

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"webhooklab/lab/inbox"
)

// claim takes the message that has been due for longest.
func (p *poster) claim(ctx context.Context) (m message, err error) {
	err = pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, `
UPDATE outbox_message
   SET status = 'processing', attempts = attempts + 1, lease_token = lease_token + 1,
       last_attempt_at = clock_timestamp(), next_attempt_at = NULL,
       lease_expires_at = clock_timestamp() + interval '1 hour'
 WHERE (topic, key) = (
	SELECT topic, key FROM outbox_message
	 WHERE `+p.due+`
	 ORDER BY next_attempt_at
	 LIMIT 1
	 FOR UPDATE SKIP LOCKED)
RETURNING topic, key, attempts, lease_token`).Scan(&m.topic, &m.key, &m.attempts, &m.token)
	})
	return m, err
}

// errNotSent: the downstream may or may not have it, and has to be asked again.
var errNotSent = errors.New("the downstream did not answer")

func (p *poster) sendThenMark(ctx context.Context, m message) error {
	if err := p.send(ctx, m); err != nil {
		return err
	}
	return p.marked(ctx, m)
}

// send calls the system outside, in one statement that is its own transaction.
func (p *poster) send(ctx context.Context, m message) error {
	_, err := p.pool.Exec(ctx, `
WITH counted AS (
	INSERT INTO downstream_call (source, key) VALUES ($1, $2)
)
INSERT INTO downstream_mail (source, key) VALUES ($1, $2)
    ON CONFLICT DO NOTHING`, m.topic, p.key(m))
	if err != nil {
		return errors.Join(errNotSent, err)
	}
	return nil
}

const markFenced = `
UPDATE outbox_message
   SET status = 'sent', sent_at = clock_timestamp(), lease_expires_at = NULL
 WHERE topic = $1 AND key = $2 AND lease_token = $3 AND status = 'processing'
RETURNING true`

func (p *poster) marked(ctx context.Context, m message) error {
	return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		held, err := found(tx.QueryRow(ctx, p.posterSteps.mark, m.topic, m.key, m.token))
		if err == nil && !held {
			return inbox.ErrLeaseLost
		}
		return err
	})
}

// fail puts the message back for later.
func (p *poster) fail(ctx context.Context, m message) error {
	return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		held, err := found(tx.QueryRow(ctx, `
UPDATE outbox_message
   SET status = 'failed', failure_reason = 'not sent', lease_expires_at = NULL,
       next_attempt_at = clock_timestamp() + interval '1 hour'
 WHERE topic = $1 AND key = $2 AND lease_token = $3 AND status = 'processing'
RETURNING true`, m.topic, m.key, m.token))
		if err == nil && !held {
			return inbox.ErrLeaseLost
		}
		return err
	})
}

package flawed

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// claimBy finds a receipt and takes it by statements of the sinner's own. What is claimed so knows
// no token, and is completed by its key.
func (c *clerk) claimBy(claim func(ctx context.Context, e *inbox.Event) error) {
	c.claim = func(ctx context.Context) (lab.Answer, error) {
		e := inbox.Event{}
		err := claim(ctx, &e)
		if errors.Is(err, pgx.ErrNoRows) {
			return leased(inbox.Idle, nil)
		}
		c.own = &e
		return leased("claimed", err)
	}
	c.complete = func(ctx context.Context) (lab.Answer, error) {
		return c.completeWith(ctx, unfenced)
	}
}

// claimInTwo finds by one statement, with this lock, and takes by another.
func (c *clerk) claimInTwo(lock string) {
	c.claimBy(func(ctx context.Context, e *inbox.Event) error {
		err := c.pool.QueryRow(ctx, `
SELECT source, event_id, event_type
  FROM webhook_receipt
 WHERE next_attempt_at <= clock_timestamp()
 ORDER BY next_attempt_at
 LIMIT 1 `+lock).Scan(&e.Source, &e.ID, &e.Type)
		if err != nil {
			return err
		}
		_, err = c.pool.Exec(ctx, takes+`
 WHERE source = $1 AND event_id = $2`, e.Source, e.ID)
		return err
	})
}

// claimInOne finds in this order, with this lock, inside the statement that takes.
func (c *clerk) claimInOne(order, lock string) {
	c.claimBy(func(ctx context.Context, e *inbox.Event) error {
		return pgx.BeginTxFunc(ctx, c.pool, readCommitted, func(tx pgx.Tx) error {
			return tx.QueryRow(ctx, takes+`
 WHERE (source, event_id) = (
	SELECT source, event_id FROM webhook_receipt
	 WHERE next_attempt_at <= clock_timestamp()
	 ORDER BY `+order+`
	 LIMIT 1 `+lock+`)
   AND status IN ('pending', 'failed')
RETURNING source, event_id, event_type`).Scan(&e.Source, &e.ID, &e.Type)
		})
	})
}

const takes = `
UPDATE webhook_receipt
   SET status = 'processing', attempts = attempts + 1, lease_token = lease_token + 1,
       last_attempt_at = clock_timestamp(), next_attempt_at = NULL,
       lease_expires_at = clock_timestamp() + interval '1 hour'`

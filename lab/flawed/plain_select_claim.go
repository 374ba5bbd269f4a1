package flawed

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
)

// plainSelectClaim looks for a receipt that is due and then marks it. Every replica that looks at
// the same time finds the same.
func plainSelectClaim(c *clerk) { c.claimBy(``) }

// skipLockedInAutocommit locks the row in a statement of its own: the lock is gone with the
// statement, before the row is marked.
func skipLockedInAutocommit(c *clerk) { c.claimBy(`FOR UPDATE SKIP LOCKED`) }

// claimBy finds in one transaction and takes in another.
func (c *clerk) claimBy(lock string) {
	c.claim = func(ctx context.Context) (lab.Answer, error) {
		e := inbox.Event{}
		err := c.pool.QueryRow(ctx, `
SELECT source, event_id, event_type
  FROM webhook_receipt
 WHERE next_attempt_at <= clock_timestamp()
 ORDER BY next_attempt_at
 LIMIT 1 `+lock).Scan(&e.Source, &e.ID, &e.Type)
		if errors.Is(err, pgx.ErrNoRows) {
			return leased(inbox.Idle, nil)
		}
		if err != nil {
			return lab.Unknown, err
		}
		_, err = c.pool.Exec(ctx, `
UPDATE webhook_receipt
   SET status = 'processing', attempts = attempts + 1, lease_token = lease_token + 1,
       last_attempt_at = clock_timestamp(), next_attempt_at = NULL,
       lease_expires_at = clock_timestamp() + interval '1 hour'
 WHERE source = $1 AND event_id = $2`, e.Source, e.ID)
		c.own = &e
		return leased("claimed", err)
	}
	c.complete = func(ctx context.Context) (lab.Answer, error) {
		return c.completeWith(ctx, unfenced)
	}
}

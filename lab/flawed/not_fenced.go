package flawed

import (
	"context"

	"webhooklab/lab"
)

// completionNotFenced marks the receipt by its key. A worker that was paused past its lease makes
// the change a second time.
func completionNotFenced(c *clerk) {
	c.complete = func(ctx context.Context) (lab.Answer, error) {
		return c.completeWith(ctx, unfenced)
	}
}

// heartbeatNotFenced prolongs whatever lease there is, also when it is another's.
func heartbeatNotFenced(c *clerk) {
	c.heartbeat = func(ctx context.Context) (lab.Answer, error) {
		e := c.held()
		_, err := c.pool.Exec(ctx, `
UPDATE webhook_receipt
   SET lease_expires_at = clock_timestamp() + interval '1 hour'
 WHERE source = $1 AND event_id = $2 AND status = 'processing'`, e.Source, e.ID)
		return leased("heartbeat", err)
	}
}

// failureNotFenced fails whatever attempt is under way, also when it is another's.
func failureNotFenced(c *clerk) {
	c.fail = func(ctx context.Context) (lab.Answer, error) {
		e := c.held()
		_, err := c.pool.Exec(ctx, `
UPDATE webhook_receipt
   SET status = 'failed', failure_reason = 'told to fail', lease_expires_at = NULL,
       next_attempt_at = clock_timestamp() + interval '1 hour'
 WHERE source = $1 AND event_id = $2 AND status = 'processing'`, e.Source, e.ID)
		return leased("failed", err)
	}
}

// releaseNotFenced gives back whatever is under way, also when another has it.
func releaseNotFenced(c *clerk) {
	c.release = func(ctx context.Context) (lab.Answer, error) {
		e := c.held()
		_, err := c.pool.Exec(ctx, `
UPDATE webhook_receipt
   SET status = 'pending', failure_reason = 'released', lease_expires_at = NULL,
       max_attempts = max_attempts + 1, next_attempt_at = clock_timestamp()
 WHERE source = $1 AND event_id = $2 AND status = 'processing'`, e.Source, e.ID)
		return leased("released", err)
	}
}

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

// ClerkWithoutSin is sound: it shows that what catches a sin is the sin.
func ClerkWithoutSin(change inbox.Change) lab.NewReceiver {
	return clerkWith(change, func(*clerk) {})
}

// clerk is an intake and a worker whose steps can be replaced. The sound ones are the reference's.
type clerk struct {
	pool   *pgxpool.Pool
	intake *inbox.Intake
	worker *inbox.Worker
	change inbox.Change
	lease  *inbox.Lease
	own    *inbox.Event // what a claim of the sinner's own holds

	claim     func(context.Context) (lab.Answer, error)
	complete  func(context.Context) (lab.Answer, error)
	heartbeat func(context.Context) (lab.Answer, error)
	fail      func(context.Context) (lab.Answer, error)
	release   func(context.Context) (lab.Answer, error)
	recover   func(context.Context) (lab.Answer, error)
}

// patiently: a command that the lab holds is none that is lost.
var patiently = inbox.WorkerOptions{
	Options: inbox.Options{
		MaxAttempts: 3, Timeout: 5 * time.Minute, LockTimeout: time.Minute,
		StatementTimeout: time.Minute, IdleTimeout: time.Minute,
	},
	Lease: time.Hour, Backoff: time.Hour, BackoffLimit: 2 * time.Hour,
}

// clerkWith is an intake and a worker that are sound but for what sin changes.
func clerkWith(change inbox.Change, sin func(*clerk)) lab.NewReceiver {
	return func(ctx context.Context, dsn string) (lab.Receiver, error) {
		pool, err := open(ctx, dsn)
		if err != nil {
			return nil, err
		}
		c := &clerk{pool: pool, change: change}
		c.intake = inbox.NewIntake(pool, patiently.Options)
		c.worker = inbox.NewWorker(pool, change, patiently)
		c.claim, c.complete, c.heartbeat = c.soundClaim, c.soundComplete, c.soundHeartbeat
		c.fail, c.release, c.recover = c.soundFail, c.soundRelease, c.soundRecover
		sin(c)
		return c, nil
	}
}

func (c *clerk) Close() { c.pool.Close() }

func (c *clerk) Receive(ctx context.Context, d lab.Delivery) (lab.Answer, error) {
	return leased(c.intake.Receive(ctx, inbox.Event{
		Source: d.Source, ID: d.EventID, Type: d.Type, Payload: d.Payload,
	}))
}

func (c *clerk) Claim(ctx context.Context) (lab.Answer, error)     { return c.claim(ctx) }
func (c *clerk) Complete(ctx context.Context) (lab.Answer, error)  { return c.complete(ctx) }
func (c *clerk) Heartbeat(ctx context.Context) (lab.Answer, error) { return c.heartbeat(ctx) }
func (c *clerk) Fail(ctx context.Context) (lab.Answer, error)      { return c.fail(ctx) }
func (c *clerk) Recover(ctx context.Context) (lab.Answer, error)   { return c.recover(ctx) }

func (c *clerk) Release(ctx context.Context) (lab.Answer, error) { return c.release(ctx) }

func (c *clerk) soundRelease(ctx context.Context) (lab.Answer, error) {
	return leased(inbox.Released, c.lease.Release(ctx))
}

func (c *clerk) Requeue(ctx context.Context, source, event string) (lab.Answer, error) {
	err := inbox.Requeue(ctx, c.pool, source, event, "ann", "the shop was closed")
	if errors.Is(err, inbox.ErrInvalid) {
		return lab.Invalid, nil
	}
	return leased("requeued", err)
}

// Work is a claim and a completion, as the steps do them.
func (c *clerk) Work(ctx context.Context) (lab.Answer, error) {
	a, err := c.claim(ctx)
	if err != nil || a.Outcome != "claimed" {
		return a, err
	}
	return c.complete(ctx)
}

func (c *clerk) soundClaim(ctx context.Context) (lab.Answer, error) {
	lease, err := c.worker.Claim(ctx)
	switch {
	case err != nil:
		return lab.Unknown, err
	case lease == nil:
		return leased(inbox.Idle, nil)
	}
	c.lease = lease
	return leased("claimed", nil)
}

func (c *clerk) soundComplete(ctx context.Context) (lab.Answer, error) {
	return leased(c.lease.Complete(ctx, c.change))
}

func (c *clerk) soundHeartbeat(ctx context.Context) (lab.Answer, error) {
	return leased("heartbeat", c.lease.Heartbeat(ctx))
}

func (c *clerk) soundFail(ctx context.Context) (lab.Answer, error) {
	return leased(c.lease.Fail(ctx, errors.New("told to fail")))
}

func (c *clerk) soundRecover(ctx context.Context) (lab.Answer, error) {
	n, err := c.worker.Recover(ctx, 100)
	return leased(inbox.Outcome(fmt.Sprintf("recovered %d", n)), err)
}

// held is the event that the clerk works on, by a claim of either kind.
func (c *clerk) held() inbox.Event {
	if c.own != nil {
		return *c.own
	}
	return c.lease.Event()
}

// completeWith makes the change and marks the receipt by a statement of the sinner's own.
func (c *clerk) completeWith(ctx context.Context, mark string) (lab.Answer, error) {
	e := c.held()
	err := pgx.BeginTxFunc(ctx, c.pool, readCommitted, func(tx pgx.Tx) error {
		if err := c.change(ctx, tx, e); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, mark, e.Source, e.ID)
		return err
	})
	return leased(inbox.Processed, err)
}

func leased(o inbox.Outcome, err error) (lab.Answer, error) {
	switch {
	case err == nil:
		return lab.Answer{Outcome: string(o), Acked: true}, nil
	case errors.Is(err, inbox.ErrLeaseLost):
		return lab.Answer{Outcome: "lease lost"}, nil
	case errors.Is(err, inbox.ErrReusedEventID):
		return lab.ReusedEventID, nil
	}
	return lab.Unknown, err
}

// unfenced marks whatever is there as processed, whoever holds it now.
const unfenced = `
UPDATE webhook_receipt
   SET status = 'processed', processed_at = clock_timestamp(), change = 'processed',
       failure_reason = NULL, lease_expires_at = NULL, next_attempt_at = NULL
 WHERE source = $1 AND event_id = $2`

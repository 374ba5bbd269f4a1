package inbox_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

// fillOutbox enqueues so many messages at once, order_1 and up.
func (d *database) fillOutbox(t testing.TB, messages int) {
	t.Helper()
	d.exec(t, `INSERT INTO outbox_message (topic, key, payload)
		SELECT 'charge', 'order_' || n, '{"cents": 1250}'
		FROM generate_series(1, $1::int) AS n`, messages)
}

// runDispatchers works with a pool until the condition holds, then stops it.
func (d *database) runDispatchers(
	t testing.TB, down inbox.Sender, size int, o inbox.WorkerOptions, until string,
) {
	t.Helper()
	db := d.newPool(t, func(c *pgxpool.Config) { c.MaxConns = int32(size) + 2 })
	pool := inbox.NewDispatcherPool(inbox.NewDispatcher(db, down, o), size, inbox.PoolOptions{
		Poll: time.Millisecond,
		Report: func(_ inbox.Outcome, err error) {
			if err != nil {
				t.Error(err)
			}
		},
	})
	ctx, stop := context.WithCancel(bounded(t))
	ended := make(chan error, 1)
	go func() { ended <- pool.Run(ctx) }()
	d.waitUntil(t, until)
	stop()
	require.NoError(t, <-ended)
}

const allSent = `SELECT NOT EXISTS (SELECT FROM outbox_message WHERE status <> 'sent')`

func TestDispatchersShareNoMessage(t *testing.T) {
	const messages = 300
	d := newDatabase(t)
	d.fillOutbox(t, messages)
	down := &downstream{}
	d.runDispatchers(t, down, 6, inbox.WorkerOptions{}, allSent)
	require.Len(t, down.sends, messages)
	require.Len(t, down.effects, messages)
	require.Equal(t, messages, d.number(t,
		`SELECT count(*) FROM outbox_message WHERE attempts = 1`))
}

// Every third answer is lost, and leases expire under the dispatchers' hands all the time.
func TestEveryMessageHasOneEffectThroughFaults(t *testing.T) {
	const messages = 40
	d := newDatabase(t)
	d.fillOutbox(t, messages)
	d.exec(t, `UPDATE outbox_message SET max_attempts = 1000`)
	var sends atomic.Int64
	down := &downstream{}
	faulty := sender(func(ctx context.Context, m inbox.OutboxMessage) error {
		if err := down.Send(ctx, m); err != nil {
			return err
		}
		if sends.Add(1)%3 == 0 {
			return errAckLost
		}
		return nil
	})
	db := d.newPool(t, func(c *pgxpool.Config) { c.MaxConns = 6 })
	pool := inbox.NewDispatcherPool(inbox.NewDispatcher(db, faulty, promptly), 4, inbox.PoolOptions{
		Poll: time.Millisecond,
		Report: func(o inbox.Outcome, err error) {
			if err != nil && !errors.Is(err, inbox.ErrLeaseLost) {
				t.Error(o, err)
			}
		},
	})
	ctx, stop := context.WithCancel(bounded(t))
	ended := make(chan error, 1)
	go func() { ended <- pool.Run(ctx) }()
	recovery := inbox.NewDispatcher(d.pool, down, promptly)
	for done := false; !done; {
		d.expire(t)
		_, err := recovery.Recover(ctx, 100)
		require.NoError(t, err)
		require.NoError(t, d.pool.QueryRow(ctx, allSent).Scan(&done))
	}
	stop()
	require.NoError(t, <-ended)
	require.Len(t, down.effects, messages)
	require.Greater(t, len(down.sends), messages+messages/3)
	require.Equal(t, messages, d.number(t,
		`SELECT count(*) FROM outbox_message WHERE status = 'sent' AND sent_at IS NOT NULL`))
}

// sender makes a function a Sender.
type sender func(context.Context, inbox.OutboxMessage) error

func (s sender) Send(ctx context.Context, m inbox.OutboxMessage) error { return s(ctx, m) }

// While a message is being sent, its pool's heartbeats make the lease longer.
func TestAHeartbeatKeepsASlowSendsLease(t *testing.T) {
	const lease = 6 * time.Second // a heartbeat comes every 2 s, and may be 4 s late
	d := newDatabase(t)
	d.fillOutbox(t, 1)
	down := &downstream{before: func(ctx context.Context, _ string) error {
		longer := false
		for !longer {
			err := d.pool.QueryRow(ctx, `SELECT lease_expires_at >
				last_attempt_at + $1::interval * 1.1 FROM outbox_message`, lease).Scan(&longer)
			if err != nil {
				return err
			}
		}
		return nil
	}}
	d.runDispatchers(t, down, 2, inbox.WorkerOptions{Lease: lease}, allSent)
	down.sent(t, "order_1")
	require.Equal(t, "sent 1", d.message(t, "order_1"))
}

// Stopped in the middle of a send that doesn't end, a pool gives the message back.
func TestAStoppedPoolReleasesWhatItSends(t *testing.T) {
	d := newDatabase(t)
	d.fillOutbox(t, 2)
	sending := make(chan struct{}, 2)
	hangs := sender(func(ctx context.Context, _ inbox.OutboxMessage) error {
		sending <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	})
	dispatcher := inbox.NewDispatcher(d.pool, hangs, promptly)
	pool := inbox.NewDispatcherPool(dispatcher, 2, inbox.PoolOptions{Grace: time.Millisecond})
	ctx, stop := context.WithCancel(bounded(t))
	ended := make(chan error, 1)
	go func() { ended <- pool.Run(ctx) }()
	<-sending
	<-sending
	stop()
	require.NoError(t, <-ended)
	require.Equal(t, 2, d.number(t, `SELECT count(*) FROM outbox_message
		WHERE status = 'pending' AND attempts = 1 AND failure_reason = 'released'`))
}

func TestExpiredLeasesAreRecoveredInBatches(t *testing.T) {
	d := newDatabase(t)
	d.fillOutbox(t, 250)
	d.exec(t, `UPDATE outbox_message SET status = 'processing', attempts = 1, lease_token = 1,
		next_attempt_at = NULL, last_attempt_at = clock_timestamp(),
		lease_expires_at = clock_timestamp()`)
	dispatcher := inbox.NewDispatcher(d.pool, &downstream{}, promptly)
	for _, want := range []int{100, 100, 50, 0} {
		recovered, err := dispatcher.Recover(bounded(t), 100)
		require.NoError(t, err)
		require.Equal(t, want, recovered)
	}
	require.Equal(t, "pending 1", d.message(t, "order_250"))
}

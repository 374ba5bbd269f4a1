package inbox_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

// downstream counts what it is sent, and does each key once. It is what a sender may expect at the
// other end, with answers that go wrong in order: nil is a good one.
type downstream struct {
	answers []error

	mutex   sync.Mutex
	sends   []string // keys, in order
	effects map[string]string
	before  func(ctx context.Context, key string) error // nothing has happened yet
}

func (d *downstream) Send(ctx context.Context, m inbox.OutboxMessage) error {
	if d.before != nil {
		if err := d.before(ctx, m.Key); err != nil {
			return err
		}
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.effects == nil {
		d.effects = map[string]string{}
	}
	d.sends = append(d.sends, m.Key)
	if _, done := d.effects[m.Key]; !done {
		d.effects[m.Key] = string(m.Payload)
	}
	if len(d.answers) == 0 {
		return nil
	}
	answer := d.answers[0]
	d.answers = d.answers[1:]
	return answer
}

// sent requires the keys of all sends so far, and one effect for each of them.
func (d *downstream) sent(t testing.TB, keys ...string) {
	t.Helper()
	d.mutex.Lock()
	defer d.mutex.Unlock()
	require.Equal(t, keys, slices.Clone(d.sends))
	distinct := slices.Clone(keys)
	slices.Sort(distinct)
	require.Len(t, d.effects, len(slices.Compact(distinct)))
}

var errAckLost = errors.New("the acknowledgement was lost")

// promptly are options of a dispatcher whose backoff is over by the next statement.
var promptly = inbox.WorkerOptions{Backoff: time.Microsecond, BackoffLimit: time.Microsecond}

func charge(key string) inbox.OutboxMessage {
	return inbox.OutboxMessage{Topic: "charge", Key: key, Payload: []byte(`{"cents": 1250}`)}
}

// enqueue commits each message in a transaction of its own.
func (d *database) enqueue(t testing.TB, messages ...inbox.OutboxMessage) {
	t.Helper()
	for _, m := range messages {
		require.NoError(t, pgx.BeginFunc(bounded(t), d.pool, func(tx pgx.Tx) error {
			return inbox.Enqueue(bounded(t), tx, m)
		}))
	}
}

func dispatches(t testing.TB, d *inbox.Dispatcher, want inbox.Outcome) {
	t.Helper()
	outcome, err := d.Dispatch(bounded(t))
	if want == inbox.LeaseLost {
		require.ErrorIs(t, err, inbox.ErrLeaseLost)
	} else {
		require.NoError(t, err)
	}
	require.Equal(t, want, outcome)
}

// message is status and attempts of a message of topic "charge".
func (d *database) message(t testing.TB, key string) string {
	t.Helper()
	var status string
	require.NoError(t, d.pool.QueryRow(bounded(t), `
		SELECT coalesce((
			SELECT status || ' ' || attempts
			FROM outbox_message WHERE topic = 'charge' AND key = $1), 'none')`,
		key).Scan(&status))
	return status
}

// expire ends every lease now.
func (d *database) expire(t testing.TB) {
	t.Helper()
	d.exec(t, `UPDATE outbox_message SET lease_expires_at = clock_timestamp()
		WHERE status = 'processing'`)
}

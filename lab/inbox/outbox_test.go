package inbox_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

func TestAMessageIsSentWithItsChangeOrNotAtAll(t *testing.T) {
	d := newDatabase(t)
	d.exec(t, `CREATE TABLE paid (id text)`)
	down := &downstream{}
	dispatcher := inbox.NewDispatcher(d.pool, down, inbox.WorkerOptions{})
	for _, end := range []string{"ROLLBACK", "COMMIT"} {
		tx, err := d.connect(t).Begin(bounded(t))
		require.NoError(t, err)
		_, err = tx.Exec(bounded(t), `INSERT INTO paid VALUES ('order_1')`)
		require.NoError(t, err)
		require.NoError(t, inbox.Enqueue(bounded(t), tx, charge("order_1")))
		dispatches(t, dispatcher, inbox.Idle)
		_, err = tx.Exec(bounded(t), end)
		require.NoError(t, err)
	}
	dispatches(t, dispatcher, inbox.Sent)
	dispatches(t, dispatcher, inbox.Idle)
	down.sent(t, "order_1")
	require.Equal(t, `{"cents": 1250}`, down.effects["order_1"])
	require.Equal(t, "sent 1", d.message(t, "order_1"))
	require.Equal(t, 1, d.number(t, `SELECT count(*) FROM paid`))
}

func TestAKeyIsOneMessage(t *testing.T) {
	d := newDatabase(t)
	d.enqueue(t, charge("order_1"), charge("order_1"))
	rewritten := charge("order_1")
	rewritten.Payload = []byte(`{"cents":1.25e3}`)
	d.enqueue(t, rewritten)
	require.Equal(t, 1, d.number(t, `SELECT count(*) FROM outbox_message`))

	changed := charge("order_1")
	changed.Payload = []byte(`{"cents": 1251}`)
	elsewhere := changed
	elsewhere.Topic = "refund"
	d.enqueue(t, elsewhere)
	tx, err := d.connect(t).Begin(bounded(t))
	require.NoError(t, err)
	err = inbox.Enqueue(bounded(t), tx, changed)
	failure := failsAs(t, inbox.ErrReusedKey, "", err)
	require.Equal(t, "outbox_message_once", failure.Constraint)
	require.NoError(t, tx.Rollback(bounded(t)))

	down := &downstream{}
	dispatches(t, inbox.NewDispatcher(d.pool, down, promptly), inbox.Sent)
	d.enqueue(t, charge("order_1"))
	require.Equal(t, "sent 1", d.message(t, "order_1"), "once sent, it isn't sent anew")
}

// The second transaction with a key waits for the first, and is what the first one's end makes it.
func TestAKeyEnqueuedTwiceAtOnceIsOneMessage(t *testing.T) {
	changed := charge("order_1")
	changed.Payload = []byte(`{"cents": 1251}`)
	for _, c := range []struct {
		end    string
		second inbox.OutboxMessage
		err    error
	}{
		{"COMMIT", charge("order_1"), nil},
		{"ROLLBACK", charge("order_1"), nil},
		{"COMMIT", changed, inbox.ErrReusedKey},
		{"ROLLBACK", changed, nil},
	} {
		d := newDatabase(t)
		first, second := d.connect(t), d.connect(t)
		tx, err := first.Begin(bounded(t))
		require.NoError(t, err)
		require.NoError(t, inbox.Enqueue(bounded(t), tx, charge("order_1")))
		ended := make(chan error, 1)
		ctx := bounded(t)
		go func() {
			ended <- pgx.BeginFunc(ctx, second, func(tx pgx.Tx) error {
				return inbox.Enqueue(ctx, tx, c.second)
			})
		}()
		d.waitsFor(t, second.PgConn().PID(), first.PgConn().PID())
		_, err = tx.Exec(bounded(t), c.end)
		require.NoError(t, err)
		require.ErrorIs(t, <-ended, c.err)
		require.Equal(t, 1, d.number(t, `SELECT count(*) FROM outbox_message`))
	}
}

func TestEnqueueDoesNotWaitForEver(t *testing.T) {
	d := newDatabase(t)
	tx, err := d.connect(t).Begin(bounded(t))
	require.NoError(t, err)
	require.NoError(t, inbox.Enqueue(bounded(t), tx, charge("order_1")))
	ctx, cancel := context.WithTimeout(bounded(t), 50*time.Millisecond)
	defer cancel()
	err = pgx.BeginFunc(bounded(t), d.pool, func(tx pgx.Tx) error {
		return inbox.Enqueue(ctx, tx, charge("order_1"))
	})
	require.Equal(t, "deadline", failsAs(t, inbox.ErrUnavailable, "", err).Reason)
}

// Where the transaction's snapshot can't see the other message, the server says so.
func TestEnqueueAtAHigherLevelIsRefusedOrRight(t *testing.T) {
	d := newDatabase(t)
	tx, err := d.connect(t).BeginTx(bounded(t), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	require.NoError(t, err)
	_, err = tx.Exec(bounded(t), `SELECT count(*) FROM outbox_message`)
	require.NoError(t, err)
	d.enqueue(t, charge("order_1"))
	require.NoError(t, inbox.Enqueue(bounded(t), tx, charge("order_2")))
	err = inbox.Enqueue(bounded(t), tx, charge("order_1"))
	require.Equal(t, "40001", failsAs(t, inbox.ErrUnavailable, "", err).SQLSTATE)
	require.NoError(t, tx.Rollback(bounded(t)))
	require.Equal(t, "none", d.message(t, "order_2"))
}

func TestAMessageOfNoShapeIsInvalid(t *testing.T) {
	for reason, change := range map[string]func(*inbox.OutboxMessage){
		"topic_empty":    func(m *inbox.OutboxMessage) { m.Topic = "" },
		"topic_too_long": func(m *inbox.OutboxMessage) { m.Topic = strings.Repeat("t", 1025) },
		"key_empty":      func(m *inbox.OutboxMessage) { m.Key = "" },
		"key_has_nul":    func(m *inbox.OutboxMessage) { m.Key = "\x00" },
		"key_not_utf8":   func(m *inbox.OutboxMessage) { m.Key = "\xff" },
		"payload_empty":  func(m *inbox.OutboxMessage) { m.Payload = nil },
		"payload_not_json": func(m *inbox.OutboxMessage) {
			m.Payload = []byte(`{`)
		},
		"payload_has_nul": func(m *inbox.OutboxMessage) { m.Payload = []byte(`"\u0000"`) },
		"max_attempts_out_of_range": func(m *inbox.OutboxMessage) {
			m.MaxAttempts = 1_000_001
		},
	} {
		m := charge("order_1")
		change(&m)
		err := inbox.Enqueue(bounded(t), nil, m) // before SQL: the transaction isn't touched
		require.Equal(t, reason, failsAs(t, inbox.ErrInvalid, "", err).Reason)
	}
}

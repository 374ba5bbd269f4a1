package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"webhooklab/lab/inbox"
)

// outboxRun is one drawn sequence, and what has to come of it.
type outboxRun struct {
	t         testing.TB
	d         *database
	topic     string
	down      *downstream
	committed map[string]bool
	rejected  map[string]bool
}

// Whatever is enqueued, rolled back, sent, lost, refused, expired and requeued: in the end, with
// faults over, each committed message has one effect or one refusal, and no other message any.
func TestDrawnOutboxesHaveOneEffectPerMessage(t *testing.T) {
	d := newDatabase(t)
	runs := 0
	rapid.Check(t, func(r *rapid.T) {
		runs++
		d.exec(t, `ALTER TABLE outbox_message DISABLE TRIGGER USER; DELETE FROM outbox_message;
			ALTER TABLE outbox_message ENABLE TRIGGER USER`)
		run := &outboxRun{
			t: t, d: d, topic: fmt.Sprint("run ", runs), down: &downstream{},
			committed: map[string]bool{}, rejected: map[string]bool{},
		}
		r.Repeat(map[string]func(*rapid.T){
			"enqueue":  run.enqueue,
			"dispatch": run.dispatch,
			"expire":   func(*rapid.T) { d.expire(t) },
			"requeue":  run.requeue,
			"":         run.holds,
		})
		run.heal(r)
	})
}

func (o *outboxRun) enqueue(r *rapid.T) {
	key := fmt.Sprint("order_", rapid.IntRange(1, 6).Draw(r, "order"))
	commit := rapid.Bool().Draw(r, "commit")
	tx, err := o.d.pool.Begin(bounded(o.t))
	require.NoError(r, err)
	require.NoError(r, inbox.Enqueue(bounded(o.t), tx, inbox.OutboxMessage{
		Topic: o.topic, Key: key, Payload: []byte(`{}`), MaxAttempts: 3,
	}))
	if !commit {
		require.NoError(r, tx.Rollback(bounded(o.t)))
		return
	}
	require.NoError(r, tx.Commit(bounded(o.t)))
	o.committed[key] = true
}

// dispatch meets one fault: the effect is had or not, the dispatcher learns it or not, and may die
// before it has marked it.
func (o *outboxRun) dispatch(r *rapid.T) {
	fault := rapid.SampledFrom([]string{
		"none", "not reached", "ack lost", "refused", "dies before the mark", "commit lost",
	}).Draw(r, "fault")
	faulty := sender(func(ctx context.Context, m inbox.OutboxMessage) error {
		switch fault {
		case "not reached":
			return errors.New("no route")
		case "refused":
			if o.down.has(m.Key) {
				return nil // whoever did it before doesn't refuse it now
			}
			o.rejected[m.Key] = true
			return inbox.Permanent(errors.New("refused"))
		case "ack lost":
			return errors.Join(o.down.Send(ctx, m), errAckLost)
		default:
			return o.down.Send(ctx, m)
		}
	})
	commits := 0
	db := between{o.d.pool, "COMMIT", func(tx pgx.Tx) {
		commits++
		switch {
		case fault == "dies before the mark" && commits == 2:
			require.NoError(r, tx.Rollback(bounded(o.t)))
		case fault == "commit lost" && commits == 2:
			require.NoError(r, tx.Commit(bounded(o.t)))
		}
	}}
	_, err := inbox.NewDispatcher(db, faulty, promptly).Dispatch(bounded(o.t))
	if err != nil {
		require.ErrorIs(r, err, inbox.ErrUnavailable)
	}
}

func (d *downstream) has(key string) bool {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	_, done := d.effects[key]
	return done
}

func (o *outboxRun) requeue(r *rapid.T) {
	key := fmt.Sprint("order_", rapid.IntRange(1, 6).Draw(r, "order"))
	err := inbox.RequeueMessage(bounded(o.t), o.d.pool, o.topic, key, "ann", "again")
	if err != nil {
		require.ErrorIs(r, err, inbox.ErrInvalid)
	}
}

// holds is demanded after every step.
func (o *outboxRun) holds(r *rapid.T) {
	for key := range o.down.effects {
		require.True(r, o.committed[key], "%s took effect without its change", key)
		require.False(r, o.rejected[key], "%s was refused", key)
	}
	require.Equal(r, len(o.committed), o.d.number(o.t, `SELECT count(*) FROM outbox_message`))
	require.Zero(r, o.d.number(o.t,
		`SELECT count(*) FROM outbox_message WHERE status = 'sent' AND key <> ALL ($1)`,
		o.down.keys()))
}

func (d *downstream) keys() []string {
	keys := []string{}
	for key := range d.effects {
		keys = append(keys, key)
	}
	return keys
}

// heal ends the faults, requeues the dead and works until nothing is left.
func (o *outboxRun) heal(r *rapid.T) {
	for key := range o.committed {
		_ = inbox.RequeueMessage(bounded(o.t), o.d.pool, o.topic, key, "ann", "healed")
	}
	dispatcher := inbox.NewDispatcher(o.d.pool, o.down, promptly)
	for range 10 * (len(o.committed) + 1) {
		o.d.expire(o.t)
		_, err := dispatcher.Dispatch(bounded(o.t))
		require.NoError(r, err)
		for key := range o.committed {
			_ = inbox.RequeueMessage(bounded(o.t), o.d.pool, o.topic, key, "ann", "healed")
		}
	}
	o.holds(r)
	require.Equal(r, len(o.committed), o.d.number(o.t,
		`SELECT count(*) FROM outbox_message WHERE status IN ('sent', 'rejected')`))
	require.Len(r, o.down.effects, len(o.committed)-len(o.rejected))
}

package inbox_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

// The downstream did it and its answer was lost: it is sent again under the same key, and does
// nothing the second time.
func TestALostAcknowledgementIsASecondSendAndOneEffect(t *testing.T) {
	d := newDatabase(t)
	d.enqueue(t, charge("order_1"))
	down := &downstream{answers: []error{errAckLost}}
	dispatcher := inbox.NewDispatcher(d.pool, down, promptly)
	dispatches(t, dispatcher, inbox.Failed)
	require.Equal(t, "failed 1", d.message(t, "order_1"))
	dispatches(t, dispatcher, inbox.Sent)
	dispatches(t, dispatcher, inbox.Idle)
	down.sent(t, "order_1", "order_1")
	require.Equal(t, "sent 2", d.message(t, "order_1"))
}

// The process dies between the send and its mark.
func TestASendThatIsNotMarkedIsSentAgain(t *testing.T) {
	d := newDatabase(t)
	d.enqueue(t, charge("order_1"))
	down := &downstream{}
	dies := between{d.pool, "UPDATE outbox_message\nSET status = 'sent'", func(tx pgx.Tx) {
		d.exec(t, `SELECT pg_terminate_backend($1, 10000)`, tx.Conn().PgConn().PID())
	}}
	outcome, err := inbox.NewDispatcher(dies, down, promptly).Dispatch(bounded(t))
	failsAs(t, inbox.ErrUnavailable, outcome, err)
	require.Equal(t, "processing 1", d.message(t, "order_1"))

	heir := inbox.NewDispatcher(d.pool, down, promptly)
	dispatches(t, heir, inbox.Idle)
	d.expire(t)
	dispatches(t, heir, inbox.Sent)
	down.sent(t, "order_1", "order_1")
	require.Equal(t, "sent 2", d.message(t, "order_1"))
}

// The mark is committed and its acknowledgement lost: the dispatcher can't tell, the row can.
func TestAMarkWhoseCommitIsLostIsNotRepeated(t *testing.T) {
	d := newDatabase(t)
	d.enqueue(t, charge("order_1"))
	down := &downstream{}
	lost := 0
	db := between{d.pool, "COMMIT", func(tx pgx.Tx) {
		if lost++; lost == 2 { // after the claim's
			require.NoError(t, tx.Commit(bounded(t)))
		}
	}}
	outcome, err := inbox.NewDispatcher(db, down, promptly).Dispatch(bounded(t))
	failsAs(t, inbox.ErrUnavailable, outcome, err)
	dispatches(t, inbox.NewDispatcher(d.pool, down, promptly), inbox.Idle)
	down.sent(t, "order_1")
	require.Equal(t, "sent 1", d.message(t, "order_1"))
}

func TestAPermanentRefusalIsFinal(t *testing.T) {
	d := newDatabase(t)
	d.enqueue(t, charge("order_1"))
	down := &downstream{answers: []error{inbox.Permanent(errors.New("no such card"))}}
	dispatcher := inbox.NewDispatcher(d.pool, down, promptly)
	dispatches(t, dispatcher, inbox.Rejected)
	dispatches(t, dispatcher, inbox.Idle)
	down.sent(t, "order_1")
	require.Equal(t, 1, d.number(t, `SELECT count(*) FROM operator_outbox_reasons
		WHERE topic = 'charge' AND status = 'rejected' AND failure_reason = 'no such card'
		AND messages = 1 AND attempts = 1`))
}

func TestAMessageIsDeadAfterItsAttemptsUntilRequeued(t *testing.T) {
	d := newDatabase(t)
	m := charge("order_1")
	m.MaxAttempts = 2
	d.enqueue(t, m)
	down := &downstream{answers: []error{errAckLost, errAckLost}}
	dispatcher := inbox.NewDispatcher(d.pool, down, promptly)
	dispatches(t, dispatcher, inbox.Failed)
	err := inbox.RequeueMessage(bounded(t), d.pool, "charge", "order_1", "ann", "too early")
	failsAs(t, inbox.ErrInvalid, "", err)
	dispatches(t, dispatcher, inbox.Dead)
	dispatches(t, dispatcher, inbox.Idle)
	require.Equal(t, "dead 2", d.message(t, "order_1"))
	require.Equal(t, 1, d.number(t, `SELECT count(*) FROM operator_outbox
		WHERE topic = 'charge' AND status = 'dead' AND messages = 1 AND most_attempts = 2
		AND oldest_age > interval '0' AND next_attempt_at IS NULL`))

	require.NoError(t,
		inbox.RequeueMessage(bounded(t), d.pool, "charge", "order_1", "ann", "they are back"))
	require.Equal(t, 1, d.number(t, `SELECT count(*) FROM outbox_message
		WHERE status = 'pending' AND actor = 'ann' AND failure_reason ~ 'they are back'`))
	dispatches(t, dispatcher, inbox.Sent)
	down.sent(t, "order_1", "order_1", "order_1")
}

func TestAPanickingSenderIsAFailure(t *testing.T) {
	d := newDatabase(t)
	d.enqueue(t, charge("order_1"), charge("order_2"))
	down := &downstream{before: func(_ context.Context, key string) error {
		if key == "order_1" {
			panic("no idea")
		}
		return nil
	}}
	dispatcher := inbox.NewDispatcher(d.pool, down, inbox.WorkerOptions{})
	dispatches(t, dispatcher, inbox.Failed)
	dispatches(t, dispatcher, inbox.Sent)
	dispatches(t, dispatcher, inbox.Idle)
	require.Equal(t, 1, d.number(t, `SELECT count(*) FROM outbox_message
		WHERE failure_reason = 'the sender panicked: no idea'`))
}

// A downstream that is slow holds neither a transaction nor a connection.
func TestASendIsOutsideAnyTransaction(t *testing.T) {
	d := newDatabase(t)
	d.enqueue(t, charge("order_1"))
	single := d.newPool(t, func(c *pgxpool.Config) { c.MaxConns = 1 })
	down := &downstream{before: func(ctx context.Context, _ string) error {
		var open int
		err := single.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND state LIKE 'idle in transaction%'`).Scan(&open)
		if open > 0 {
			return errors.New("a transaction is open")
		}
		return err
	}}
	dispatches(t, inbox.NewDispatcher(single, down, inbox.WorkerOptions{}), inbox.Sent)
}

// Its lease ran out while it was sending, and another sent and marked: what it finds changes
// nothing.
func TestADispatcherPausedPastItsLeaseMarksNothing(t *testing.T) {
	for _, answer := range []error{nil, errAckLost, inbox.Permanent(errAckLost)} {
		d := newDatabase(t)
		d.enqueue(t, charge("order_1"))
		sending, resume := make(chan struct{}), make(chan struct{})
		down := &downstream{}
		paused := &downstream{before: func(ctx context.Context, key string) error {
			close(sending)
			<-resume
			if err := down.Send(ctx, charge(key)); err != nil {
				return err
			}
			return answer
		}}
		ended := make(chan error, 1)
		ctx := bounded(t)
		go func() {
			outcome, err := inbox.NewDispatcher(d.pool, paused, promptly).Dispatch(ctx)
			if outcome != inbox.LeaseLost {
				err = errors.New("not lost: " + string(outcome))
			}
			ended <- err
		}()
		<-sending
		d.expire(t)
		dispatches(t, inbox.NewDispatcher(d.pool, down, promptly), inbox.Sent)
		close(resume)
		require.ErrorIs(t, <-ended, inbox.ErrLeaseLost)
		down.sent(t, "order_1", "order_1")
		require.Equal(t, "sent 2", d.message(t, "order_1"))
	}
}

// Who stops a dispatcher leaves the message to the next one, in its old place in line.
func TestASendThatIsCancelledIsReleased(t *testing.T) {
	d := newDatabase(t)
	d.enqueue(t, charge("order_1"), charge("order_2"))
	ctx, cancel := context.WithCancel(bounded(t))
	hangs := &downstream{before: func(sending context.Context, _ string) error {
		cancel()
		<-sending.Done()
		return sending.Err()
	}}
	outcome, err := inbox.NewDispatcher(d.pool, hangs, promptly).Dispatch(ctx)
	require.NoError(t, err)
	require.Equal(t, inbox.Released, outcome)

	down := &downstream{}
	dispatcher := inbox.NewDispatcher(d.pool, down, promptly)
	dispatches(t, dispatcher, inbox.Sent)
	dispatches(t, dispatcher, inbox.Sent)
	down.sent(t, "order_1", "order_2")
	require.Equal(t, "sent 2", d.message(t, "order_1"))
}

// What was sent before the dispatcher was told to stop is still marked.
func TestASendThatWasDoneIsMarkedAllTheSame(t *testing.T) {
	d := newDatabase(t)
	d.enqueue(t, charge("order_1"))
	ctx, cancel := context.WithCancel(bounded(t))
	down := &downstream{before: func(context.Context, string) error {
		cancel()
		return nil
	}}
	outcome, err := inbox.NewDispatcher(d.pool, down, promptly).Dispatch(ctx)
	require.NoError(t, err)
	require.Equal(t, inbox.Sent, outcome)
	require.Equal(t, "sent 1", d.message(t, "order_1"))
}

// Healthy messages are sent in the same order beside one that never succeeds.
func TestAPoisonousMessageDelaysNobody(t *testing.T) {
	d := newDatabase(t)
	d.enqueue(t, charge("order_1"), charge("poison"), charge("order_2"), charge("order_3"))
	down := &downstream{before: func(_ context.Context, key string) error {
		if key == "poison" {
			return errors.New("never")
		}
		return nil
	}}
	dispatcher := inbox.NewDispatcher(d.pool, down, inbox.WorkerOptions{})
	for _, outcome := range []inbox.Outcome{
		inbox.Sent, inbox.Failed, inbox.Sent, inbox.Sent, inbox.Idle,
	} {
		dispatches(t, dispatcher, outcome)
	}
	down.sent(t, "order_1", "order_2", "order_3")
}

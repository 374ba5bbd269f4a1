package inbox

import (
	"context"
	"fmt"
)

// Sent: the downstream has the message, and the outbox says so.
const Sent Outcome = "sent"

// Dispatcher sends the messages of the outbox, each under a lease, in the order in which they
// became due. It promises no order per key or topic.
//
// Every message of a committed transaction is sent at least once, until the downstream accepts it,
// refuses it for good, or its attempts are used up. It is sent again, with the same key, whenever
// the downstream has it but that could not be marked: the process died, the answer was lost, the
// lease ran out. So the downstream has to do each key once only. It is safe for concurrent use if
// its DB and its sender are.
type Dispatcher struct {
	leases  *leases
	sender  Sender
	options WorkerOptions
}

var leasedMessages = leasedTable{
	name: "outbox_message",
	key:  []string{"topic", "key"},
	came: "enqueued_at",
	held: "status = 'processing'",
	data: "topic, key, payload, max_attempts",
	done: `status = 'sent',
    sent_at = clock_timestamp()`,
}

// NewDispatcher gives a dispatcher on the table outbox_message. The options' Timeout bounds each
// call of the sender, apart from those of the database.
func NewDispatcher(db DB, sender Sender, o WorkerOptions) *Dispatcher {
	o = o.withDefaults()
	return &Dispatcher{newLeases(db, o, leasedMessages), sender, o}
}

// Dispatch claims one message, sends it and marks it: [Sent], [Failed], [Rejected], [Dead], or
// [Idle] if none is due. It fails with [LeaseLost] if that took longer than the lease and another
// came, and without an outcome if the database is unavailable: a message that was sent and not
// marked is sent again once its lease has expired. If ctx ends before the sender is done, the
// message is [Released].
func (d *Dispatcher) Dispatch(ctx context.Context) (Outcome, error) {
	next, failure := d.claim(ctx)
	switch {
	case failure != nil:
		return "", failure
	case next == nil:
		return Idle, nil
	default:
		return next.work(ctx, ctx)
	}
}

// Recover takes up to limit messages away from dispatchers whose leases have expired, and gives
// their number. Dispatch does this when nothing is due, and a pool does it beside.
func (d *Dispatcher) Recover(ctx context.Context, limit int) (int, error) {
	recovered, failure := d.leases.recover(ctx, limit)
	return recovered, asError(failure)
}

// NewDispatcherPool gives a pool of so many dispatches at a time, at least one.
func NewDispatcherPool(d *Dispatcher, size int, o PoolOptions) *Pool {
	claim := func(ctx context.Context) (claimed, error) {
		next, failure := d.claim(ctx)
		if next == nil {
			return nil, asError(failure)
		}
		return next, nil
	}
	return newPool(claim, d.Recover, d.options.Lease, size, o)
}

// sending is a claim on one message.
type sending struct {
	held       held
	dispatcher *Dispatcher
	message    OutboxMessage
}

// claim gives the next message that is due, nil if there is none.
func (d *Dispatcher) claim(ctx context.Context) (*sending, *Error) {
	s := sending{dispatcher: d}
	var payload []byte
	h, found, failure := d.leases.next(ctx,
		&s.message.Topic, &s.message.Key, &payload, &s.message.MaxAttempts)
	if failure != nil || !found {
		return nil, failure
	}
	s.held, s.message.Payload = h, payload
	s.held.key = []any{s.message.Topic, s.message.Key}
	return &s, nil
}

// Heartbeat makes the lease as long as a new one.
func (s *sending) Heartbeat(ctx context.Context) error {
	return asError(s.held.heartbeat(ctx))
}

// work sends the message and marks how that ended, also if ctx ends meanwhile.
func (s *sending) work(ctx, leased context.Context) (Outcome, error) {
	reason := s.send(leased)
	gaveUp := leased.Err()
	ctx, cancel := lasting(ctx, recordBound)
	defer cancel()
	switch {
	case reason == nil:
		return Sent.orLost(s.held.mark(ctx))
	case gaveUp != nil && !isPermanent(reason):
		return Released.orLost(s.held.release(ctx))
	default:
		outcome, failure := s.held.fail(ctx, reason)
		return outcome.orLost(failure)
	}
}

// send makes a panic an error, so that one message can't take down those beside it.
func (s *sending) send(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, s.dispatcher.options.Timeout)
	defer cancel()
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("the sender panicked: %v", reason)
		}
	}()
	return s.dispatcher.sender.Send(ctx, s.message)
}

package webhook

import (
	"context"
	"errors"

	"webhooklab/lab/inbox"
)

// Snapshots receives events that are complete states: see [inbox.Snapshots].
func Snapshots(db inbox.DB, o inbox.Options) Receiver {
	r := inbox.NewSnapshots(db, o)
	return Entered(db, receiverFunc(func(ctx context.Context, e Event) (inbox.Outcome, error) {
		return r.Receive(ctx, e.snapshotEvent())
	}))
}

// Emails receives email events: see [inbox.Emails].
func Emails(db inbox.DB, o inbox.Options) Receiver {
	r := inbox.NewEmails(db, o)
	return Entered(db, receiverFunc(func(ctx context.Context, e Event) (inbox.Outcome, error) {
		return r.Receive(ctx, inbox.EmailEvent{
			Source: e.Source, EventID: e.ID, MessageID: e.Message, Recipient: e.Recipient,
			Type: e.Type, OccurredAt: e.OccurredAt, Payload: e.Raw,
		})
	}))
}

// Atomic processes each event in the transaction that accepts it: see [inbox.Atomic].
func Atomic(db inbox.DB, change inbox.Change, o inbox.Options) Receiver {
	r := inbox.NewAtomic(db, change, o)
	return receiverFunc(func(ctx context.Context, e Event) (inbox.Outcome, error) {
		return r.Receive(ctx, e.receiptEvent())
	})
}

// Intake stores each event for a worker: see [inbox.Intake].
func Intake(db inbox.DB, o inbox.Options) Receiver {
	r := inbox.NewIntake(db, o)
	return receiverFunc(func(ctx context.Context, e Event) (inbox.Outcome, error) {
		return r.Receive(ctx, e.receiptEvent())
	})
}

// receiptEvent is the event as receipts keep it: the whole body is its payload.
func (e Event) receiptEvent() inbox.Event {
	return inbox.Event{
		Source: e.Source, ID: e.ID, Type: e.Type, Payload: e.Raw, Raw: e.Raw,
		Headers: e.Headers, DeliveryID: e.DeliveryID,
	}
}

type receiverFunc func(ctx context.Context, e Event) (inbox.Outcome, error)

// Receive is [Receiver]'s.
func (f receiverFunc) Receive(ctx context.Context, e Event) (inbox.Outcome, error) {
	return f(ctx, e)
}

// Entered gives a receiver whose deliveries are written to webhook_delivery, for one that doesn't
// do so itself in the transaction that decides. The entry is a transaction of its own, after the
// receiver's; when it fails, the answer stays what it was, for what is accepted is accepted, and
// the accounts lack a delivery: the handler logs and counts that.
func Entered(db inbox.DB, r Receiver) Receiver {
	keeper := ledger{db}
	return receiverFunc(func(ctx context.Context, e Event) (inbox.Outcome, error) {
		outcome, err := r.Receive(ctx, e)
		decided := result{e, outcome, err}
		if counted, _ := decided.class(); counted == classUnavailable {
			return outcome, err
		}
		return outcome, errors.Join(err, keeper.delivery(ctx, decided))
	})
}

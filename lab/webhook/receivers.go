package webhook

import (
	"context"

	"webhooklab/lab/inbox"
)

// Snapshots receives events that are complete states: see [inbox.Snapshots].
func Snapshots(db inbox.DB, o inbox.Options) Receiver {
	r := inbox.NewSnapshots(db, o)
	return receiverFunc(func(ctx context.Context, e Event) (inbox.Outcome, error) {
		return r.Receive(ctx, e.snapshotEvent())
	})
}

// Emails receives email events: see [inbox.Emails].
func Emails(db inbox.DB, o inbox.Options) Receiver {
	r := inbox.NewEmails(db, o)
	return receiverFunc(func(ctx context.Context, e Event) (inbox.Outcome, error) {
		return r.Receive(ctx, inbox.EmailEvent{
			Source: e.Source, EventID: e.ID, MessageID: e.Message, Recipient: e.Recipient,
			Type: e.Type, OccurredAt: e.OccurredAt, Payload: e.Raw,
		})
	})
}

// Atomic processes each event in the transaction that accepts it: see [inbox.Atomic].
func Atomic(db inbox.DB, change inbox.Change, o inbox.Options) Receiver {
	r := inbox.NewAtomic(db, change, o)
	return receiptFunc(func(ctx context.Context, e Event) (inbox.Outcome, error) {
		return r.Receive(ctx, e.receiptEvent())
	})
}

// Intake stores each event for a worker: see [inbox.Intake].
func Intake(db inbox.DB, o inbox.Options) Receiver {
	r := inbox.NewIntake(db, o)
	return receiptFunc(func(ctx context.Context, e Event) (inbox.Outcome, error) {
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

// receiverFunc is a receiver that leaves its deliveries to the ledger.
type receiverFunc func(ctx context.Context, e Event) (inbox.Outcome, error)

// Receive is [Receiver]'s.
func (f receiverFunc) Receive(ctx context.Context, e Event) (inbox.Outcome, error) {
	return f(ctx, e)
}

// receiptFunc is a receiver that writes each delivery it decides, in the transaction that does.
type receiptFunc func(ctx context.Context, e Event) (inbox.Outcome, error)

// Receive is [Receiver]'s.
func (f receiptFunc) Receive(ctx context.Context, e Event) (inbox.Outcome, error) {
	return f(ctx, e)
}

package webhook

import (
	"context"
	"errors"

	"webhooklab/lab/inbox"
)

// Receiver stores an event, or does what it asks for, before it answers.
type Receiver interface {
	// Receive returns an outcome only after what it stands for is durable. Its errors match one of
	// [inbox.ErrInvalid], [inbox.ErrReusedEventID], [inbox.ErrReusedRevision] and
	// [inbox.ErrUnavailable]; any other is taken for the last. A
	// delivery that was decided, and did not merely fail, has left a row in webhook_delivery: see
	// [Entered] for receivers of your own.
	Receive(ctx context.Context, e Event) (inbox.Outcome, error)
}

// class is how a delivery counts. Duplicates are a class of their own: they are no failures, and
// hide none.
type class string

const (
	classNew         class = "new"
	classDuplicate   class = "duplicate"
	classConflict    class = "conflict"
	classInvalid     class = "invalid"
	classUnavailable class = "unavailable"
)

// result is what came of one delivery.
type result struct {
	event   Event
	outcome inbox.Outcome
	err     error
}

// class says how the delivery counts, and its name for a sender: an outcome or a refusal's reason.
func (r result) class() (class, string) {
	switch {
	case r.err == nil && r.outcome == inbox.Duplicate:
		return classDuplicate, string(r.outcome)
	case r.err == nil && r.outcome != "":
		return classNew, string(r.outcome)
	case r.err == nil || r.unrecorded() != nil:
		return classUnavailable, string(classUnavailable)
	case errors.Is(r.err, inbox.ErrReusedEventID), errors.Is(r.err, inbox.ErrReusedRevision):
		return classConflict, r.reason()
	case errors.Is(r.err, inbox.ErrInvalid):
		return classInvalid, r.reason()
	default:
		return classUnavailable, string(classUnavailable)
	}
}

// unrecorded is why a refusal left no row. The sender is then asked to come again, so that every
// final answer has one.
func (r result) unrecorded() error {
	var failure *inbox.Error
	if errors.As(r.err, &failure) {
		return failure.Unrecorded
	}
	return nil
}

// reason is the refusal's stable name.
func (r result) reason() string {
	var failure *inbox.Error
	if errors.As(r.err, &failure) {
		return failure.Reason
	}
	return "refused"
}

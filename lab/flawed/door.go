package flawed

import (
	"context"
	"errors"
	"net/http"
	"time"

	"webhooklab/lab/inbox"
	"webhooklab/lab/webhook"
)

// TrustsAnybody lets in whatever claims to be signed. Somebody without the secret is first with a
// real event id, and its true sender is told of a conflict.
func TrustsAnybody(webhook.Verifier) webhook.Verifier { return anybody{} }

type anybody struct{}

func (anybody) Verify(http.Header, []byte, time.Time) error { return nil }

// DuplicateIsAnError tells the sender that it failed, because the row was there. The sender comes
// again for days.
func DuplicateIsAnError(r webhook.Receiver) webhook.Receiver {
	return receives(func(ctx context.Context, e webhook.Event) (inbox.Outcome, error) {
		o, err := r.Receive(ctx, e)
		if err == nil && o == inbox.Duplicate {
			return "", errors.New("duplicate key")
		}
		return o, err
	})
}

// SwallowsUnavailable logs the database's error and answers 200, so that the sender stops asking.
// The event is lost.
func SwallowsUnavailable(r webhook.Receiver) webhook.Receiver {
	return receives(func(ctx context.Context, e webhook.Event) (inbox.Outcome, error) {
		o, err := r.Receive(ctx, e)
		if errors.Is(err, inbox.ErrUnavailable) {
			return inbox.Applied, nil
		}
		return o, err
	})
}

type receives func(context.Context, webhook.Event) (inbox.Outcome, error)

func (f receives) Receive(ctx context.Context, e webhook.Event) (inbox.Outcome, error) {
	return f(ctx, e)
}

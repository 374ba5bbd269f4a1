package properties_test

import (
	"context"
	"errors"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
	"webhooklab/scenarios"
)

// unguarded lets every step of a receipt pass, and still writes it down: what the trigger refuses
// by itself would otherwise never be a law's to catch.
const unguarded = `
CREATE OR REPLACE FUNCTION step_receipt() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE was text := CASE TG_OP WHEN 'UPDATE' THEN OLD.status END;
BEGIN
	IF was IS DISTINCT FROM NEW.status THEN
		INSERT INTO receipt_transition
		       (source, event_id, from_status, to_status, attempt, reason, actor)
		VALUES (NEW.source, NEW.event_id, was, NEW.status, NEW.attempts, 'any', NEW.actor);
	END IF;
	RETURN NULL;
END $$;`

// Schemas that sin by themselves, under a receiver that doesn't.
const (
	withoutHistory = `DROP TRIGGER webhook_receipt_step ON webhook_receipt;`

	// failuresForgotten writes no step to failed down.
	failuresForgotten = `
CREATE FUNCTION forget_failure() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RETURN CASE WHEN NEW.to_status <> 'failed' THEN NEW END;
END $$;
CREATE TRIGGER forget_failure BEFORE INSERT ON receipt_transition
   FOR EACH ROW EXECUTE FUNCTION forget_failure();`

	// copiesAreNew counts whatever comes as new.
	copiesAreNew = `
CREATE FUNCTION count_as_new() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.counted_as := 'new';
	RETURN NEW;
END $$;
CREATE TRIGGER count_as_new BEFORE INSERT ON webhook_delivery
   FOR EACH ROW EXECUTE FUNCTION count_as_new();`
)

// swallowing takes a delivery for stored that was not: its sender never comes again.
type swallowing struct{ scenarios.Clerk }

func (s swallowing) Close() { closeReceiver(s.Clerk) }

func (s swallowing) Receive(ctx context.Context, d lab.Delivery) (lab.Answer, error) {
	answer, err := s.Clerk.Receive(ctx, d)
	if err != nil {
		return lab.Answer{Outcome: "accepted", Acked: true}, nil
	}
	return answer, nil
}

// remembering answers a copy out of its memory, so that nobody ever counts it.
type remembering struct {
	scenarios.Clerk
	contents map[string]string // by event
}

func (r *remembering) Close() { closeReceiver(r.Clerk) }

func (r *remembering) Receive(ctx context.Context, d lab.Delivery) (lab.Answer, error) {
	if r.contents[event(d)] == content(d) {
		return lab.Duplicate, nil
	}
	answer, err := r.Clerk.Receive(ctx, d)
	if answer.Acked {
		r.contents[event(d)] = content(d)
	}
	return answer, err
}

// refusing tells an invalid delivery by its answer, as the reference does, and not by an error.
func refusing(receiver lab.NewReceiver) lab.NewReceiver {
	return func(ctx context.Context, dsn string) (lab.Receiver, error) {
		r, err := receiver(ctx, dsn)
		if err != nil {
			return nil, err
		}
		return refuser{r.(scenarios.Clerk)}, nil
	}
}

type refuser struct{ scenarios.Clerk }

func (r refuser) Close() { closeReceiver(r.Clerk) }

func (r refuser) Receive(ctx context.Context, d lab.Delivery) (lab.Answer, error) {
	answer, err := r.Clerk.Receive(ctx, d)
	if errors.Is(err, inbox.ErrInvalid) {
		return lab.Invalid, nil
	}
	return answer, err
}

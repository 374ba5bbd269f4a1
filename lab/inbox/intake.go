package inbox

import "context"

// Intake stores each event once, as a receipt that a [Worker] processes later. It is safe for
// concurrent use if its DB is.
type Intake struct{ receipts receipts }

// NewIntake gives an intake on the tables webhook_receipt, webhook_delivery and webhook_refusal.
func NewIntake(db DB, o Options) *Intake {
	return &Intake{newReceipts(db, o.withDefaults(), acceptLeasedSQL)}
}

const acceptLeasedSQL = `INSERT INTO webhook_receipt
    (source, event_id, event_type, payload, raw_body, signature_headers,
     model, status, max_attempts, next_attempt_at, actor)
VALUES
    ($1, $2, $3, $4::jsonb, $5::bytea, $6::jsonb,
     'leased', 'pending', $7, clock_timestamp(), 'intake')
ON CONFLICT DO NOTHING
RETURNING attempts`

// Receive answers after COMMIT has returned: [Accepted] if the event is new, [Duplicate] if its
// receipt was there, whatever has become of it. It fails with an [*Error] and no change but the
// rows of webhook_refusal and webhook_delivery where the delivery itself was at fault.
func (i *Intake) Receive(ctx context.Context, e Event) (Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, i.receipts.options.Timeout)
	defer cancel()

	var outcome Outcome
	failure := e.check()
	if failure == nil {
		failure = i.receipts.run(ctx, func(in statements) (failure *Error) {
			outcome, failure = i.store(in, e)
			return failure
		})
	}
	if failure != nil {
		return "", i.receipts.refuse(ctx, e, failure)
	}
	return outcome, nil
}

func (i *Intake) store(in statements, e Event) (Outcome, *Error) {
	isNew, failure := i.receipts.accept(in, e, i.receipts.options.MaxAttempts)
	if failure != nil {
		return "", failure
	}
	if isNew {
		return Accepted, recordDelivery(in, e, arrived, string(Accepted))
	}
	k, failure := i.receipts.lookUp(in, e)
	if failure != nil {
		return "", failure
	}
	if k.model == "atomic" && k.status == "failed" {
		// No worker may take it, so the sender has to go on until the atomic handler does.
		return "", &Error{Step: "look up", Kind: ErrUnavailable, Reason: "failed_as_atomic"}
	}
	return Duplicate, recordDelivery(in, e, repeated, string(Duplicate))
}

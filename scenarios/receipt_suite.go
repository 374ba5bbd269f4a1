package scenarios

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
	"webhooklab/properties"
)

// receiptState is how the judge reads receipts, in both models.
var receiptState = lab.State{
	{Name: "receipts", SQL: `
SELECT source, event_id, model, status, attempts, change, failure_reason
  FROM webhook_receipt`},
	{Name: "effects", Once: true, SQL: `
SELECT source, event_id, note
  FROM effect`},
	{Name: "transitions", SQL: `
SELECT source, event_id,
       row_number() OVER (PARTITION BY source, event_id ORDER BY transition_no) AS step,
       from_status, to_status, attempt, actor
  FROM receipt_transition`},
	{Name: "deliveries", SQL: `
SELECT source, event_id,
       row_number() OVER (PARTITION BY source, event_id ORDER BY delivery_no) AS number,
       counted_as, answer
  FROM webhook_delivery`},
	{Name: "refusals", Once: true, SQL: `
SELECT source, event_id, reason, deliveries
  FROM webhook_refusal`},
}

// effects is what the business change of the stories writes to: a table without any key, so that a
// double effect shows. While a source stands in weather, its flaky changes fail.
const effects = `
CREATE TABLE effect (
	effect_no bigint GENERATED ALWAYS AS IDENTITY,
	source    text COLLATE "C" NOT NULL,
	event_id  text COLLATE "C" NOT NULL,
	note      text NOT NULL
);
CREATE TABLE weather (source text COLLATE "C" NOT NULL);`

// Change is the business change of the stories, told by the event's type what to do.
func Change(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
	switch e.Type {
	case "order.unpayable":
		return inbox.Permanent(errors.New("there is no such order"))
	case "order.viewed":
		return inbox.ErrIgnored
	}
	_, err := tx.Exec(ctx, `INSERT INTO effect (source, event_id, note) VALUES ($1, $2, $3)`,
		e.Source, e.ID, e.Type)
	if err != nil || e.Type != "order.flaky" {
		return err
	}
	var storms bool
	err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM weather WHERE source = $1)`, e.Source).
		Scan(&storms)
	if err == nil && storms {
		return errors.New("it storms")
	}
	return err
}

// order is an event that asks for the business change.
func order(id, kind string) lab.Delivery {
	return lab.Delivery{
		Source: "shop", EventID: id, Type: "order." + kind, Payload: []byte(`{"order": 7}`),
	}
}

// storm makes flaky changes fail from now on; calm ends it.
func storm(l *lab.Lab) { l.SQL(`INSERT INTO weather VALUES ('` + l.Source("shop") + `')`) }
func calm(l *lab.Lab)  { l.SQL(`DELETE FROM weather WHERE source = '` + l.Source("shop") + `'`) }

// The answers of the receipt contract.
var (
	processed = lab.Answer{Outcome: "processed", Acked: true}
	ignored   = lab.Answer{Outcome: "ignored", Acked: true}
	rejected  = lab.Answer{Outcome: "rejected", Acked: true}
	accepted  = lab.Answer{Outcome: "accepted", Acked: true}
)

// AtomicSuite is the contract of receipts that are processed by the transaction that accepts them.
var AtomicSuite = Suite{
	Name:     "atomic",
	Title:    "Receipts, processed by the transaction that accepts them",
	Receiver: Atomic,
	State:    receiptState,
	Laws:     properties.Receipts,
	Effects:  effects,
	Programs: slices.Concat(AtomicPrograms, AtomicInputs),
	Swept:    sweptAtomic,
	Scenarios: []lab.Scenario{
		AtomicSameEventTwice,
		AtomicCopyInFlight,
		AtomicCopyAfterRollback,
		AtomicReleasedTogether,
		AtomicReusedEventID,
		AtomicReusedEventIDInFlight,
		AtomicIgnoredType,
		AtomicPermanentFailure,
		AtomicFailureIsRetried,
		AtomicFailureRacesSuccess,
		AtomicRedeliveryInFlight,
		AtomicReceiptsStayApart,
		AtomicCrashAfterClaim,
		AtomicCrashBeforeMark,
		AtomicCrashAfterChange,
		AtomicCommitAckLost,
		AtomicInvalid,
	},
	NotPromised: atomicDoesNotPromise,
}

// Atomic is the reference atomic handler over a pool of its own.
func Atomic(ctx context.Context, dsn string) (lab.Receiver, error) {
	pool, err := open(ctx, dsn)
	if err != nil {
		return nil, err
	}
	return &atomicReceiver{pool: pool, handler: inbox.NewAtomic(pool, Change, patient)}, nil
}

type atomicReceiver struct {
	pool    *pgxpool.Pool
	handler *inbox.Atomic
}

func (a *atomicReceiver) Close() { a.pool.Close() }

func (a *atomicReceiver) Receive(ctx context.Context, d lab.Delivery) (lab.Answer, error) {
	return answer(a.handler.Receive(ctx, event(d)))
}

func event(d lab.Delivery) inbox.Event {
	return inbox.Event{Source: d.Source, ID: d.EventID, Type: d.Type, Payload: d.Payload}
}

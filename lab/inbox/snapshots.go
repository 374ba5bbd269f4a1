package inbox

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5"
)

// SnapshotEvent is one complete state of one object. Texts are 1 to 1,024 bytes of UTF-8 without
// NUL, the source at most 255.
type SnapshotEvent struct {
	// Source names the authenticated sender's namespace. It comes from configuration, never from
	// a body.
	Source string
	// EventID is the same in each retry of an event, and in no other event of the source.
	EventID string
	// ObjectID names the thing whose state this is.
	ObjectID string
	// Revision places the state in the object's history: from 1 up, growing, gaps allowed.
	Revision int64
	// Snapshot is a JSON object that PostgreSQL's jsonb can hold, see [MaxSnapshotBytes].
	Snapshot json.RawMessage
}

// Outcome is the success that a sender may be told of.
type Outcome string

const (
	// Applied: newly accepted, and the object's state is now this snapshot.
	Applied Outcome = "applied"
	// Stale: newly accepted, but the object's state is at this revision or a newer one already.
	Stale Outcome = "stale"
	// Duplicate: this very event was accepted before. Nothing changed.
	Duplicate Outcome = "duplicate"
)

// Snapshots accepts each event once and keeps every object at its greatest accepted revision, in
// whatever order, number and overlap the deliveries come. It is safe for concurrent use if its DB
// is.
type Snapshots struct {
	options Options
	run     runner
}

// NewSnapshots gives a receiver on the tables webhook_inbox, object_state and webhook_refusal.
func NewSnapshots(db DB, o Options) *Snapshots {
	o = o.withDefaults()
	return &Snapshots{options: o, run: newTransactor(db, o).run}
}

// Receive answers after COMMIT has returned, or fails with an [*Error] and no change but a row of
// webhook_refusal where the delivery itself was at fault.
func (s *Snapshots) Receive(ctx context.Context, e SnapshotEvent) (Outcome, error) {
	return s.receive(ctx, e, e.check(), e.digest)
}

// ReceiveBody parses a body that source is known to have sent, then does as Receive does.
func (s *Snapshots) ReceiveBody(ctx context.Context, source string, body []byte) (Outcome, error) {
	e, failure := parseSnapshotEvent(source, body)
	return s.receive(ctx, e, failure, bodyDigest(body))
}

func (s *Snapshots) receive(
	ctx context.Context, e SnapshotEvent, failure *Error, digest func() [32]byte,
) (Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()

	var outcome Outcome
	if failure == nil {
		outcome, failure = s.accept(ctx, e)
	}
	if failure == nil {
		return outcome, nil
	}
	if failure.Kind != ErrUnavailable {
		refused := refusal{e.Source, e.EventID, failure.Reason, failure.Constraint, digest()}
		failure.Unrecorded = s.run.record(ctx, refused)
	}
	return "", failure
}

// accept is the transaction of one delivery.
func (s *Snapshots) accept(ctx context.Context, e SnapshotEvent) (Outcome, *Error) {
	var outcome Outcome
	failure := s.run(ctx, func(in statements) *Error {
		isNew, failure := claim(in, e)
		switch {
		case failure != nil:
			return failure
		case isNew:
			outcome, failure = advance(in, e)
		default:
			outcome, failure = lookUp(in, e)
		}
		return failure
	})
	return outcome, failure
}

const claimSQL = `INSERT INTO webhook_inbox (source, event_id, object_id, revision, snapshot)
VALUES ($1, $2, $3, $4, $5::jsonb)
ON CONFLICT DO NOTHING -- names no target: both unique constraints are covered
RETURNING event_id`

// claim reports whether the event is new. A rival that holds its identity in an open transaction
// is waited for: the claim succeeds if that one rolls back.
func claim(in statements, e SnapshotEvent) (bool, *Error) {
	var eventID string
	err := in.row(claimSQL, e.Source, e.EventID, e.ObjectID, e.Revision, string(e.Snapshot)).
		Scan(&eventID)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, failed("claim", err)
	}
	return true, nil
}

const lookUpSQL = `SELECT object_id = $3
   AND revision = $4
   AND snapshot = $5::jsonb -- compared as jsonb: 1 is 1.0, true is not 1, no digit is lost
FROM webhook_inbox
WHERE source = $1
  AND event_id = $2`

// lookUp says why a claim was refused. It has to be a statement of its own: the claim may have
// waited for a rival that its snapshot of the database can't see, this one's can.
func lookUp(in statements, e SnapshotEvent) (Outcome, *Error) {
	var same bool
	err := in.row(lookUpSQL, e.Source, e.EventID, e.ObjectID, e.Revision, string(e.Snapshot)).
		Scan(&same)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", conflict(ErrReusedRevision, "reused_revision", "webhook_inbox_revision_once")
	case err != nil:
		return "", failed("look up", err)
	case !same:
		return "", conflict(ErrReusedEventID, "reused_event_id", "webhook_inbox_event_once")
	default:
		return Duplicate, nil
	}
}

func conflict(kind error, reason, constraint string) *Error {
	return &Error{Step: "look up", Kind: kind, Reason: reason, Constraint: constraint}
}

const advanceSQL = `INSERT INTO object_state AS current (source, object_id, revision, snapshot)
VALUES ($1, $2, $3, $4::jsonb)
ON CONFLICT (source, object_id) DO UPDATE
SET revision = excluded.revision,
    snapshot = excluded.snapshot
WHERE current.revision < excluded.revision -- strictly, decided on the locked row
RETURNING revision`

// advance moves the object forward, never back and never sideways.
func advance(in statements, e SnapshotEvent) (Outcome, *Error) {
	var revision int64
	err := in.row(advanceSQL, e.Source, e.ObjectID, e.Revision, string(e.Snapshot)).
		Scan(&revision)
	if errors.Is(err, pgx.ErrNoRows) {
		return Stale, nil
	}
	if err != nil {
		return "", failed("advance", err)
	}
	return Applied, nil
}

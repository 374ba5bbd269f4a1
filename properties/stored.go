package properties

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"webhooklab/lab"
)

// Stored is what a database holds of some sources: accepted events, current objects (their EventID
// is empty), refusals.
type Stored struct {
	Events   []lab.Delivery
	Objects  []lab.Delivery
	Refusals []Refusal
}

// A Refusal is one row on what a sender was refused.
type Refusal struct {
	Source, EventID, Reason string
	Deliveries              int64
}

// ReadStored asks, in one snapshot of the database, for all that a receiver's State shows of these
// sources.
func ReadStored(
	ctx context.Context, conn *pgx.Conn, state lab.State, sources []string,
) (s Stored, err error) {
	const (
		events = `
SELECT source, event_id, object_id, revision, snapshot::text
  FROM (%s) AS e
 WHERE source = ANY ($1::text[])`
		objects = `
SELECT source, '', object_id, revision, snapshot::text
  FROM (%s) AS o
 WHERE source = ANY ($1::text[])`
	)
	once := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err = pgx.BeginTxFunc(ctx, conn, once, func(tx pgx.Tx) error {
		s.Events, err = readDeliveries(ctx, tx, events, state.SQL("events"), sources)
		if err != nil {
			return err
		}
		s.Objects, err = readDeliveries(ctx, tx, objects, state.SQL("objects"), sources)
		if err != nil {
			return err
		}
		s.Refusals, err = readRefusals(ctx, tx, state.SQL("refusals"), sources)
		return err
	})
	if err != nil {
		return Stored{}, fmt.Errorf("read what %d sources have stored: %w", len(sources), err)
	}
	return s, nil
}

func readDeliveries(
	ctx context.Context, tx pgx.Tx, sql, state string, sources []string,
) ([]lab.Delivery, error) {
	rows, err := tx.Query(ctx, fmt.Sprintf(sql, state), sources)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (d lab.Delivery, err error) {
		var snapshot string
		err = row.Scan(&d.Source, &d.EventID, &d.ObjectID, &d.Revision, &snapshot)
		d.Snapshot = []byte(snapshot)
		return d, err
	})
}

func readRefusals(
	ctx context.Context, tx pgx.Tx, state string, sources []string,
) ([]Refusal, error) {
	if state == "" {
		return nil, nil
	}
	rows, err := tx.Query(ctx, fmt.Sprintf(`
SELECT source, event_id, reason, deliveries
  FROM (%s) AS r
 WHERE source = ANY ($1::text[])`, state), sources)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Refusal])
}

// model is the database's content as the model would hold it. It fails on two rows for one key and
// on a snapshot that has no identity: no model comes to that.
func (s Stored) model() (*Model, error) {
	m := &Model{}
	m.fill()
	for _, d := range s.Events {
		identity, err := Canonical(d.Snapshot)
		if err != nil {
			return nil, fmt.Errorf("stored event %s: %w", d, err)
		}
		e := event{d.Source, d.EventID, d.ObjectID, d.Revision, identity}
		if _, there := m.events[e.key()]; there {
			return nil, fmt.Errorf("stored event %s: it is there twice", d)
		}
		if other, there := m.owners[e.revisionKey()]; there {
			return nil, fmt.Errorf("stored event %s: its revision belongs to %q too", d, other)
		}
		m.events[e.key()], m.owners[e.revisionKey()] = e.content(), e.id
	}
	for _, d := range s.Objects {
		identity, err := Canonical(d.Snapshot)
		if err != nil {
			return nil, fmt.Errorf("stored object %s: %w", d, err)
		}
		key := objectKey{d.Source, d.ObjectID}
		if _, there := m.objects[key]; there {
			return nil, fmt.Errorf("stored object %s: it is there twice", d)
		}
		m.objects[key] = standing{d.Revision, identity}
	}
	return m, nil
}

// Differs says in words what the database holds and the model does not, or the other way round;
// "" when they agree.
func (m *Model) Differs(s Stored) string {
	stored, err := s.model()
	if err != nil {
		return err.Error()
	}
	return strings.Join(append(differences("event", m.events, stored.events),
		differences("object", m.objects, stored.objects)...), "\n")
}

func differences[K comparable, V comparable](kind string, want, got map[K]V) (all []string) {
	for key := range want {
		if _, there := got[key]; !there {
			all = append(all, fmt.Sprintf("%s %+v is not stored, want %+v", kind, key, want[key]))
		}
	}
	for key, value := range got {
		switch expected, there := want[key]; {
		case !there:
			all = append(all, fmt.Sprintf("%s %+v is stored as %+v, want none", kind, key, value))
		case value != expected:
			all = append(all, fmt.Sprintf("%s %+v is stored as %+v, want %+v",
				kind, key, value, expected))
		}
	}
	slices.Sort(all)
	return all
}

package scenarios_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
	"webhooklab/scenarios"
)

// What follows is all that it takes to put a receiver with a driver, a schema and SQL of its own
// through every scenario.

const ownSchema = `
CREATE TABLE deliveries (
	tenant text, id text, thing text, version bigint, body jsonb NOT NULL,
	PRIMARY KEY (tenant, id),
	UNIQUE (tenant, thing, version)
);
CREATE TABLE things (
	tenant text, thing text, version bigint NOT NULL, body jsonb NOT NULL,
	PRIMARY KEY (tenant, thing)
);`

var ownState = lab.State{
	{Name: "events", SQL: `
SELECT tenant AS source, id AS event_id, thing AS object_id, version AS revision, body AS snapshot
  FROM deliveries`},
	{Name: "objects", SQL: `
SELECT tenant AS source, thing AS object_id, version AS revision, body AS snapshot
  FROM things`},
}

func TestOwnReceiver(t *testing.T) {
	scenarios.RunSuite(t, scenarios.SnapshotSuite, scenarios.Options{
		Receiver: newOwn, Schema: ownSchema, State: ownState,
	})
}

type own struct{ db *sql.DB }

func newOwn(_ context.Context, dsn string) (lab.Receiver, error) {
	db, err := sql.Open("pgx", dsn)
	return own{db}, err
}

func (o own) Close() { o.db.Close() }

func (o own) Receive(ctx context.Context, d lab.Delivery) (lab.Answer, error) {
	event := inbox.SnapshotEvent{Source: d.Source, EventID: d.EventID,
		ObjectID: d.ObjectID, Revision: d.Revision, Snapshot: d.Snapshot}
	if event.Validate() != nil {
		return lab.Invalid, nil
	}
	tx, err := o.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return lab.Unknown, err
	}
	defer tx.Rollback() //nolint:errcheck // over after Commit
	a, err := o.accept(ctx, tx, d)
	if err != nil {
		return lab.Unknown, err
	}
	return a, tx.Commit()
}

func (own) accept(ctx context.Context, tx *sql.Tx, d lab.Delivery) (lab.Answer, error) {
	claimed, err := changed(tx.ExecContext(ctx, `
INSERT INTO deliveries VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
		d.Source, d.EventID, d.ObjectID, d.Revision, string(d.Snapshot)))
	if err != nil {
		return lab.Unknown, err
	}
	if !claimed {
		return known(ctx, tx, d)
	}
	moved, err := changed(tx.ExecContext(ctx, `
INSERT INTO things AS t VALUES ($1, $2, $3, $4)
    ON CONFLICT (tenant, thing) DO UPDATE
   SET version = excluded.version, body = excluded.body
 WHERE t.version < excluded.version`,
		d.Source, d.ObjectID, d.Revision, string(d.Snapshot)))
	if err != nil || moved {
		return lab.Applied, err
	}
	return lab.Stale, nil
}

func known(ctx context.Context, tx *sql.Tx, d lab.Delivery) (lab.Answer, error) {
	var same bool
	err := tx.QueryRowContext(ctx, `
SELECT thing = $3 AND version = $4 AND body = $5::jsonb
  FROM deliveries
 WHERE tenant = $1 AND id = $2`,
		d.Source, d.EventID, d.ObjectID, d.Revision, string(d.Snapshot)).Scan(&same)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return lab.ReusedRevision, nil
	case err != nil:
		return lab.Unknown, err
	case !same:
		return lab.ReusedEventID, nil
	}
	return lab.Duplicate, nil
}

func changed(r sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := r.RowsAffected()
	return n == 1, err
}

package scenarios

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
	"webhooklab/lab/postgres"
)

// Snapshots is the reference receiver of package inbox, over a pool of its own, as a lab.Receiver.
func Snapshots(ctx context.Context, dsn string) (lab.Receiver, error) {
	pool, err := open(ctx, dsn)
	if err != nil {
		return nil, err
	}
	return &snapshots{pool: pool, receiver: inbox.NewSnapshots(pool, patient)}, nil
}

// open makes the small pool of one session.
func open(ctx context.Context, dsn string) (*pgxpool.Pool, error) { return openPool(ctx, dsn, 4) }

func openPool(ctx context.Context, dsn string, size int32) (*pgxpool.Pool, error) {
	cfg, err := postgres.ParsePoolConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("scenarios: %w", err)
	}
	cfg.MaxConns, cfg.MinConns = size, 0
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("scenarios: %w", err)
	}
	return pool, nil
}

// patient receivers don't take a command that the lab holds for one that is lost: how long a step
// takes is the machine's affair, and must not change what is seen.
var patient = inbox.Options{
	Timeout: 5 * time.Minute, LockTimeout: time.Minute,
	StatementTimeout: time.Minute, IdleTimeout: time.Minute,
}

type snapshots struct {
	pool     *pgxpool.Pool
	receiver *inbox.Snapshots
}

func (s *snapshots) Close() { s.pool.Close() }

func (s *snapshots) Receive(ctx context.Context, d lab.Delivery) (lab.Answer, error) {
	var outcome inbox.Outcome
	var err error
	if d.Body != nil {
		outcome, err = s.receiver.ReceiveBody(ctx, d.Source, d.Body)
	} else {
		outcome, err = s.receiver.Receive(ctx, inbox.SnapshotEvent{
			Source: d.Source, EventID: d.EventID,
			ObjectID: d.ObjectID, Revision: d.Revision, Snapshot: d.Snapshot,
		})
	}
	return answer(outcome, err)
}

// answer tells what the sender learns; an unavailable receiver teaches it nothing.
func answer(outcome inbox.Outcome, err error) (lab.Answer, error) {
	switch {
	case err == nil:
		return lab.Answer{Outcome: string(outcome), Acked: true}, nil
	case errors.Is(err, inbox.ErrReusedEventID):
		return lab.ReusedEventID, nil
	case errors.Is(err, inbox.ErrReusedRevision):
		return lab.ReusedRevision, nil
	case errors.Is(err, inbox.ErrInvalid):
		return lab.Invalid, nil
	}
	return lab.Unknown, err
}

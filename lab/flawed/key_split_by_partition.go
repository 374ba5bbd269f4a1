package flawed

import (
	"context"

	"webhooklab/lab"
)

// KeySplitByPartition keeps each day's events in a partition of their own. PostgreSQL then wants
// the day in each unique key, and an event that comes again after midnight is a new one.
var KeySplitByPartition = with(func(s *steps) {
	s.claim = func(ctx context.Context, q querier, d lab.Delivery) (bool, error) {
		return found(q.QueryRow(ctx, `
INSERT INTO webhook_inbox (source, event_id, object_id, revision, snapshot, received_at)
VALUES ($1, $2, $3, $4, $5::jsonb, date_trunc('day', clock_timestamp()))
    ON CONFLICT DO NOTHING
RETURNING true`,
			d.Source, d.EventID, d.ObjectID, d.Revision, string(d.Snapshot)))
	}
})

// KeySplitByPartitionAlter makes its inbox.
const KeySplitByPartitionAlter = `
DROP VIEW operator_daily, operator_events;
DROP TABLE webhook_inbox;
CREATE TABLE webhook_inbox (
    source      text COLLATE "C" NOT NULL,
    event_id    text COLLATE "C" NOT NULL,
    object_id   text COLLATE "C" NOT NULL,
    revision    bigint           NOT NULL,
    snapshot    jsonb            NOT NULL,
    received_at timestamptz      NOT NULL,
    PRIMARY KEY (source, event_id, received_at),
    UNIQUE (source, object_id, revision, received_at)
) PARTITION BY RANGE (received_at);
CREATE TABLE webhook_inbox_all PARTITION OF webhook_inbox DEFAULT;`

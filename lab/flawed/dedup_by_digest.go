package flawed

import (
	"context"
	"crypto/sha256"

	"webhooklab/lab"
)

// DedupByDigest takes the digest of the bytes for the event's identity. A retry that is written
// otherwise is accepted once more, and so is a second event for a revision.
var DedupByDigest = with(func(s *steps) {
	s.claim = func(ctx context.Context, q querier, d lab.Delivery) (bool, error) {
		digest := sha256.Sum256(d.Snapshot)
		return found(q.QueryRow(ctx, `
INSERT INTO digest_inbox (source, event_id, object_id, revision, snapshot, digest)
VALUES ($1, $2, $3, $4, $5::jsonb, $6)
    ON CONFLICT DO NOTHING
RETURNING true`,
			d.Source, d.EventID, d.ObjectID, d.Revision, string(d.Snapshot), digest[:]))
	}
	s.lookUp = func(context.Context, querier, lab.Delivery) (lab.Answer, error) {
		return lab.Duplicate, nil
	}
})

// DedupByDigestSchema is its inbox, which nothing else guards, beside the tables of schema.sql.
const DedupByDigestSchema = `
CREATE TABLE digest_inbox (
    source    text   NOT NULL,
    event_id  text   NOT NULL,
    object_id text   NOT NULL,
    revision  bigint NOT NULL,
    snapshot  jsonb  NOT NULL,
    digest    bytea  NOT NULL,
    PRIMARY KEY (source, event_id, digest)
);
`

// DedupByDigestState reads it.
var DedupByDigestState = lab.State{
	{Name: "events", SQL: `
SELECT source, event_id, object_id, revision, snapshot
  FROM digest_inbox`},
	{Name: "objects", SQL: lab.ReferenceState.SQL("objects")},
}

-- The tables of the reference receivers, for an empty database of PostgreSQL 14 to 18, encoded in
-- UTF8. Plain SQL without extensions: psql loads it, and so does one simple-protocol Query.
--
-- Identities are opaque bytes to us: COLLATE "C" keeps equality and order the same on every
-- machine. Their bounds keep each key far below the 2,704 bytes that a B-tree row may have.


-- One row for each event that was accepted, exactly as it was first delivered; never changed.
CREATE TABLE webhook_inbox (
    source      text COLLATE "C" NOT NULL,
    event_id    text COLLATE "C" NOT NULL,
    object_id   text COLLATE "C" NOT NULL,
    revision    bigint           NOT NULL,
    snapshot    jsonb            NOT NULL,
    -- For people who read the table. It never decides which state wins.
    received_at timestamptz      NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT webhook_inbox_event_once    PRIMARY KEY (source, event_id),
    CONSTRAINT webhook_inbox_revision_once UNIQUE (source, object_id, revision),

    CONSTRAINT webhook_inbox_source_bounded     CHECK (octet_length(source) BETWEEN 1 AND 255),
    CONSTRAINT webhook_inbox_event_id_bounded   CHECK (octet_length(event_id) BETWEEN 1 AND 1024),
    CONSTRAINT webhook_inbox_object_id_bounded  CHECK (octet_length(object_id) BETWEEN 1 AND 1024),
    CONSTRAINT webhook_inbox_revision_positive  CHECK (revision > 0),
    CONSTRAINT webhook_inbox_snapshot_is_object CHECK (jsonb_typeof(snapshot) = 'object')
);


-- The current state of each object: the accepted snapshot with the greatest revision.
CREATE TABLE object_state (
    source    text COLLATE "C" NOT NULL,
    object_id text COLLATE "C" NOT NULL,
    revision  bigint           NOT NULL,
    snapshot  jsonb            NOT NULL,

    CONSTRAINT object_state_one_per_object PRIMARY KEY (source, object_id),

    CONSTRAINT object_state_source_bounded     CHECK (octet_length(source) BETWEEN 1 AND 255),
    CONSTRAINT object_state_object_id_bounded  CHECK (octet_length(object_id) BETWEEN 1 AND 1024),
    CONSTRAINT object_state_revision_positive  CHECK (revision > 0),
    CONSTRAINT object_state_snapshot_is_object CHECK (jsonb_typeof(snapshot) = 'object')
);


-- One row for each thing that an authenticated sender was refused, however often it tried again.
CREATE TABLE webhook_refusal (
    source          text COLLATE "C" NOT NULL,
    -- As sent when text can hold it, otherwise escaped and cut; empty when there was none to read.
    event_id        text COLLATE "C" NOT NULL,
    reason          text COLLATE "C" NOT NULL,
    -- SHA-256 of the refused body, or of its fields where no body came: keeps nothing of them.
    digest          bytea            NOT NULL,
    -- The constraint that the delivery ran into; null when it was refused before it met one.
    constraint_name text COLLATE "C",
    deliveries      bigint           NOT NULL DEFAULT 1,
    first_seen      timestamptz      NOT NULL DEFAULT clock_timestamp(),
    last_seen       timestamptz      NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT webhook_refusal_counted_once PRIMARY KEY (source, event_id, reason, digest),

    CONSTRAINT webhook_refusal_source_bounded   CHECK (octet_length(source) <= 255),
    CONSTRAINT webhook_refusal_event_id_bounded CHECK (octet_length(event_id) <= 1024),
    CONSTRAINT webhook_refusal_reason_bounded   CHECK (octet_length(reason) BETWEEN 1 AND 100),
    CONSTRAINT webhook_refusal_digest_is_sha256 CHECK (octet_length(digest) = 32),
    CONSTRAINT webhook_refusal_counted          CHECK (deliveries > 0)
);


-- Refuses a statement that would change or remove rows of an append-only table.
CREATE FUNCTION refuse_change() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'restrict_violation',
              HINT = 'Insert a new event. To purge, outlast the sender''s retries and disable '
                     'the trigger as the owner of the table.';
END
$$;

-- For each statement, so that TRUNCATE is covered and a statement without rows is refused as well.
CREATE TRIGGER webhook_inbox_append_only
    BEFORE UPDATE OR DELETE OR TRUNCATE ON webhook_inbox
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

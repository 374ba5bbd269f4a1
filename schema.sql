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


-- email status

-- Where the type of an email event stands among the five ranks; null for flags and for types that
-- nobody knows. It decides what the state rows say: after a change here, recount them.
CREATE FUNCTION email_rank(type text) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (CASE
        WHEN type IN ('accepted', 'queued', 'sent', 'processed')                         THEN 1
        WHEN type IN ('deferred', 'delayed', 'soft_bounce', 'soft_bounced')              THEN 2
        WHEN type IN ('delivered')                                                       THEN 3
        WHEN type IN ('bounced', 'hard_bounce', 'hard_bounced', 'dropped', 'failed')     THEN 4
        WHEN type IN ('complained')                                                      THEN 5
    END)::smallint
$$;


-- One row for each event that a mail provider sent, and for each correction; never changed.
CREATE TABLE email_event (
    source      text COLLATE "C" NOT NULL,
    event_id    text COLLATE "C" NOT NULL,

    -- Of an event: what happened to which message.
    message_id  text COLLATE "C",
    recipient   text COLLATE "C",
    type        text COLLATE "C",
    rank        smallint GENERATED ALWAYS AS (email_rank(type)) STORED,
    payload     jsonb,
    -- For people who read the table. No time decides which state wins.
    occurred_at timestamptz,
    received_at timestamptz      NOT NULL DEFAULT clock_timestamp(),

    -- Of a correction: which event no longer counts, also one that has yet to come, and by whom.
    voids       text COLLATE "C",
    reason      text COLLATE "C",
    author      text COLLATE "C",

    CONSTRAINT email_event_once PRIMARY KEY (source, event_id),

    CONSTRAINT email_event_is_event_or_correction CHECK (
        num_nulls(message_id, recipient, type, payload) = 0
            AND num_nonnulls(voids, reason, author) = 0
        OR num_nonnulls(message_id, recipient, type, payload, occurred_at) = 0
            AND num_nulls(voids, reason, author) = 0),
    CONSTRAINT email_event_source_bounded     CHECK (octet_length(source) BETWEEN 1 AND 255),
    CONSTRAINT email_event_event_id_bounded   CHECK (octet_length(event_id) BETWEEN 1 AND 1024),
    CONSTRAINT email_event_message_id_bounded CHECK (octet_length(message_id) BETWEEN 1 AND 1024),
    CONSTRAINT email_event_recipient_bounded  CHECK (octet_length(recipient) BETWEEN 1 AND 1024),
    CONSTRAINT email_event_type_bounded       CHECK (octet_length(type) BETWEEN 1 AND 255),
    CONSTRAINT email_event_payload_is_object  CHECK (jsonb_typeof(payload) = 'object'),
    CONSTRAINT email_event_voids_bounded      CHECK (octet_length(voids) BETWEEN 1 AND 1024),
    CONSTRAINT email_event_reason_bounded     CHECK (octet_length(reason) BETWEEN 1 AND 1024),
    CONSTRAINT email_event_author_bounded     CHECK (octet_length(author) BETWEEN 1 AND 1024),
    CONSTRAINT email_event_voids_another      CHECK (voids <> event_id)
);

CREATE INDEX email_event_history ON email_event (source, message_id, recipient)
    WHERE message_id IS NOT NULL;
CREATE INDEX email_event_voided ON email_event (source, voids)
    WHERE voids IS NOT NULL;

CREATE TRIGGER email_event_append_only
    BEFORE UPDATE OR DELETE OR TRUNCATE ON email_event
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();


-- The current state of each recipient of a known message: the highest rank and every flag among
-- its events that no correction voids. It holds nothing that depends on when they came.
CREATE TABLE email_status (
    source       text COLLATE "C" NOT NULL,
    message_id   text COLLATE "C" NOT NULL,
    recipient    text COLLATE "C" NOT NULL,
    -- 0 until an event gives one.
    rank         smallint         NOT NULL DEFAULT 0,
    status       text COLLATE "C" GENERATED ALWAYS AS (
        (ARRAY['none', 'accepted', 'deferred', 'delivered', 'bounced', 'complained'])[rank + 1]
    ) STORED,
    opened       boolean          NOT NULL DEFAULT false,
    clicked      boolean          NOT NULL DEFAULT false,
    unsubscribed boolean          NOT NULL DEFAULT false,

    CONSTRAINT email_status_one_per_recipient PRIMARY KEY (source, message_id, recipient),

    CONSTRAINT email_status_source_bounded     CHECK (octet_length(source) BETWEEN 1 AND 255),
    CONSTRAINT email_status_message_id_bounded CHECK (octet_length(message_id) BETWEEN 1 AND 1024),
    CONSTRAINT email_status_recipient_bounded  CHECK (octet_length(recipient) BETWEEN 1 AND 1024),
    CONSTRAINT email_status_rank_known         CHECK (rank BETWEEN 0 AND 5)
);


-- Takes the locks under which email status is decided, until the transaction ends: that of an
-- event id, unless it is null, then those of recipients of a message. Who brings an event, a
-- correction of it or its message takes them first, in a statement of its own: the next statement
-- then sees whatever the holders before have committed, and neither can miss the other.
--
-- Advisory locks, because the rows that would have to be locked need not exist yet. Their keys are
-- hashes: two names that share one wait for each other without need, and no more. Locks are taken
-- in this order only, recipients by ascending key, so that nobody waits in a circle.
CREATE FUNCTION email_lock(source text, event_id text, message_id text, recipients text[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    key bigint;
BEGIN
    IF event_id IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock(
            hashtextextended(jsonb_build_array(source, event_id)::text, 0));
    END IF;
    FOR key IN
        SELECT DISTINCT hashtextextended(jsonb_build_array(source, message_id, r)::text, 0) AS k
        FROM unnest(recipients) AS r
        ORDER BY k
    LOOP
        PERFORM pg_advisory_xact_lock(key);
    END LOOP;
END
$$;


-- What the history says of each recipient, whether its message is known or not. The rows of
-- email_status are these, at every moment that no transaction is open.
CREATE VIEW email_recount AS
SELECT e.source, e.message_id, e.recipient,
    coalesce(max(e.rank) FILTER (WHERE NOT c.voided), 0)::smallint              AS rank,
    coalesce(bool_or(e.type = 'opened' AND NOT c.voided), false)       AS opened,
    coalesce(bool_or(e.type = 'clicked' AND NOT c.voided), false)      AS clicked,
    coalesce(bool_or(e.type = 'unsubscribed' AND NOT c.voided), false) AS unsubscribed
FROM email_event AS e
CROSS JOIN LATERAL (
    SELECT EXISTS (
        SELECT FROM email_event AS v
        WHERE v.source = e.source
          AND v.voids = e.event_id) AS voided) AS c
WHERE e.message_id IS NOT NULL
GROUP BY e.source, e.message_id, e.recipient;

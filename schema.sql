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


-- ============================================================================================
-- Email status
-- ============================================================================================

-- Where the type of an email event stands among the five ranks; null for flags and for types that
-- nobody knows. Who changes it sets email_status to email_recount in the same transaction.
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
    coalesce(max(email_rank(e.type)) FILTER (WHERE NOT c.voided), 0)   AS rank,
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


-- The event that each state rests on: the least id among those of the deciding rank, so that it
-- doesn't tell who came first either. Null where the rank is 0.
CREATE VIEW email_deciding AS
SELECT s.source, s.message_id, s.recipient, s.status,
    (SELECT min(e.event_id)
     FROM email_event AS e
     WHERE e.source = s.source
       AND e.message_id = s.message_id
       AND e.recipient = s.recipient
       AND email_rank(e.type) = s.rank
       AND NOT EXISTS (
           SELECT FROM email_event AS v
           WHERE v.source = e.source
             AND v.voids = e.event_id)) AS event_id
FROM email_status AS s;


-- For operators: how many recipients stand where, and with which flags.
CREATE VIEW operator_emails AS
SELECT source, status,
    count(*)                              AS recipients,
    count(*) FILTER (WHERE opened)        AS opened,
    count(*) FILTER (WHERE clicked)       AS clicked,
    count(*) FILTER (WHERE unsubscribed)  AS unsubscribed
FROM email_status
GROUP BY source, status;


-- For operators: events whose message nobody has added, and since when the first of them waits.
CREATE VIEW operator_held_emails AS
SELECT e.source, e.message_id, e.recipient,
    count(*)           AS events,
    min(e.received_at) AS held_since
FROM email_event AS e
WHERE e.message_id IS NOT NULL
  AND NOT EXISTS (
      SELECT FROM email_status AS s
      WHERE s.source = e.source
        AND s.message_id = e.message_id
        AND s.recipient = e.recipient)
GROUP BY e.source, e.message_id, e.recipient;


-- ============================================================================================
-- Receipts
-- ============================================================================================

-- One row for each event that somebody has to process: what arrived, what was tried, what it came
-- to, and what happens next.
CREATE TABLE webhook_receipt (
    source            text COLLATE "C" NOT NULL,
    event_id          text COLLATE "C" NOT NULL,
    -- atomic: processed by the transaction that accepts it, driven by the sender's deliveries.
    -- leased: accepted first, claimed by a worker later. No receipt is ever processed both ways.
    model             text COLLATE "C" NOT NULL,
    event_type        text COLLATE "C" NOT NULL,
    payload           jsonb            NOT NULL,
    -- What the signature covers, byte by byte, and the headers it came in: for audit and replay.
    raw_body          bytea            NOT NULL,
    signature_headers jsonb            NOT NULL DEFAULT '{}',

    status            text COLLATE "C" NOT NULL,
    -- Counted when an attempt begins, so that one which kills its process counts. Never shrinks.
    attempts          integer          NOT NULL DEFAULT 0,
    -- Null for atomic receipts: how often those are tried is for the sender to say.
    max_attempts      integer,
    received_at       timestamptz      NOT NULL DEFAULT clock_timestamp(),
    last_attempt_at   timestamptz,
    -- When a worker may claim it: the time of arrival at first, the end of a backoff later. Null
    -- where no worker may.
    next_attempt_at   timestamptz,
    processed_at      timestamptz,
    -- What the processing changed, in its own words; "ignored" where nobody handles the type.
    change            text COLLATE "C",
    -- Why it failed, was rejected, is dead, or was put back.
    failure_reason    text COLLATE "C",
    -- Who took the last step.
    actor             text COLLATE "C" NOT NULL,

    -- Grows with each claim. Only who knows the current one can finish the attempt.
    lease_token       bigint           NOT NULL DEFAULT 0,
    -- From then on another may take the receipt away. It ends nothing by itself.
    lease_expires_at  timestamptz,

    CONSTRAINT webhook_receipt_event_once PRIMARY KEY (source, event_id),

    CONSTRAINT webhook_receipt_source_bounded     CHECK (octet_length(source) BETWEEN 1 AND 255),
    CONSTRAINT webhook_receipt_event_id_bounded   CHECK (octet_length(event_id) BETWEEN 1 AND 1024),
    CONSTRAINT webhook_receipt_event_type_bounded
        CHECK (octet_length(event_type) BETWEEN 1 AND 1024),
    CONSTRAINT webhook_receipt_headers_are_object
        CHECK (jsonb_typeof(signature_headers) = 'object'),
    CONSTRAINT webhook_receipt_actor_bounded      CHECK (octet_length(actor) BETWEEN 1 AND 255),
    CONSTRAINT webhook_receipt_change_bounded     CHECK (octet_length(change) BETWEEN 1 AND 1024),
    CONSTRAINT webhook_receipt_reason_bounded
        CHECK (octet_length(failure_reason) BETWEEN 1 AND 1024),

    CONSTRAINT webhook_receipt_status_known CHECK (
        status IN ('pending', 'processing', 'processed', 'failed', 'rejected')
        OR status = 'dead' AND model = 'leased' AND attempts = max_attempts),
    -- There are two models, and no third.
    CONSTRAINT webhook_receipt_attempts_bounded CHECK (
        model = 'atomic' AND max_attempts IS NULL AND attempts > 0
        OR model = 'leased' AND attempts BETWEEN 0 AND max_attempts AND max_attempts > 0),
    -- What may be claimed has an attempt left, so a claim never fails on its own count.
    CONSTRAINT webhook_receipt_claimable_is_due CHECK (
        (next_attempt_at IS NOT NULL) = (model = 'leased' AND status IN ('pending', 'failed'))
        AND (next_attempt_at IS NULL OR attempts < max_attempts)),
    CONSTRAINT webhook_receipt_processing_is_leased CHECK (
        (lease_expires_at IS NOT NULL) = (model = 'leased' AND status = 'processing')),
    CONSTRAINT webhook_receipt_result_has_reason CHECK (
        CASE status
            WHEN 'processed' THEN change IS NOT NULL AND processed_at IS NOT NULL
            WHEN 'failed' THEN failure_reason IS NOT NULL
            WHEN 'rejected' THEN failure_reason IS NOT NULL
            WHEN 'dead' THEN failure_reason IS NOT NULL
            ELSE change IS NULL AND processed_at IS NULL
        END)
)
-- Room on each page for the versions that a claim and a result leave behind, and a vacuum long
-- before a fifth of the table is dead.
WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);

-- What may be claimed, in the order in which it may be.
CREATE INDEX webhook_receipt_due ON webhook_receipt (next_attempt_at)
    WHERE next_attempt_at IS NOT NULL;

-- What workers hold: as many rows as there are workers. The expiry is not among its columns, so a
-- heartbeat touches no index.
CREATE INDEX webhook_receipt_held ON webhook_receipt (last_attempt_at)
    WHERE model = 'leased' AND status = 'processing';


-- A payload without the parts that its sender may vary: a JSON array of paths, each an array of the
-- keys that lead to a part. What isn't there, or lies in no object, is no part. Null stands for [].
CREATE FUNCTION without_varying(payload jsonb, paths jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    part jsonb;
    path text[];
BEGIN
    IF jsonb_typeof(paths) = 'null' THEN
        RETURN payload;
    END IF;
    FOR part IN SELECT * FROM jsonb_array_elements(paths) LOOP
        path := ARRAY(SELECT jsonb_array_elements_text(part));
        -- The operator that removes a part fails where it meets an array or a scalar.
        IF jsonb_typeof(payload #> path[:cardinality(path) - 1]) = 'object' THEN
            payload := payload #- path;
        END IF;
    END LOOP;
    RETURN payload;
END
$$;


-- One row for each authenticated delivery that was decided, however often its event came. One that
-- found no database has no row.
CREATE TABLE webhook_delivery (
    delivery_no bigint           GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source      text COLLATE "C" NOT NULL,
    event_id    text COLLATE "C" NOT NULL,
    -- The sender's name for the attempt, if it gives one. It identifies nothing.
    delivery_id text COLLATE "C",
    received_at timestamptz      NOT NULL DEFAULT clock_timestamp(),
    -- new: made the receipt. duplicate: its event had one. conflict, invalid: refused.
    counted_as  text COLLATE "C" NOT NULL,
    -- What the sender was told, or would have been, had it still been there.
    answer      text COLLATE "C" NOT NULL,

    CONSTRAINT webhook_delivery_source_bounded      CHECK (octet_length(source) <= 255),
    CONSTRAINT webhook_delivery_event_id_bounded    CHECK (octet_length(event_id) <= 1024),
    CONSTRAINT webhook_delivery_delivery_id_bounded
        CHECK (octet_length(delivery_id) BETWEEN 1 AND 1024),
    CONSTRAINT webhook_delivery_counted             CHECK (
        counted_as IN ('new', 'duplicate', 'conflict', 'invalid')),
    CONSTRAINT webhook_delivery_answer_bounded      CHECK (octet_length(answer) BETWEEN 1 AND 100)
);

CREATE INDEX webhook_delivery_of_event ON webhook_delivery (source, event_id);

CREATE TRIGGER webhook_delivery_append_only
    BEFORE UPDATE OR DELETE OR TRUNCATE ON webhook_delivery
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();


-- One row for each step of a receipt from one status to the next, written by its trigger alone.
CREATE TABLE receipt_transition (
    source        text COLLATE "C" NOT NULL,
    event_id      text COLLATE "C" NOT NULL,
    transition_no bigint           GENERATED ALWAYS AS IDENTITY,
    -- Null for the step into the table.
    from_status   text COLLATE "C",
    to_status     text COLLATE "C" NOT NULL,
    at            timestamptz      NOT NULL DEFAULT clock_timestamp(),
    attempt       integer          NOT NULL,
    reason        text COLLATE "C",
    actor         text COLLATE "C" NOT NULL,

    CONSTRAINT receipt_transition_of_receipt PRIMARY KEY (source, event_id, transition_no)
);

CREATE TRIGGER receipt_transition_append_only
    BEFORE UPDATE OR DELETE OR TRUNCATE ON receipt_transition
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER receipt_transition_written_by_trigger
    BEFORE INSERT ON receipt_transition
    FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION refuse_change();


-- Allows a receipt only the steps of its state machine, and writes each of them down. It runs after
-- the row was written: before, an insert that meets a conflict would be written down as well.
CREATE FUNCTION step_receipt() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    allowed boolean;
    was     text;
BEGIN
    IF TG_OP = 'INSERT' THEN
        allowed := NEW.model = 'leased' AND NEW.status = 'pending' AND NEW.attempts = 0
                OR NEW.model = 'atomic' AND NEW.status = 'processing' AND NEW.attempts = 1;
    ELSIF NEW.status = 'processing' AND OLD.status IN ('pending', 'failed') THEN
        was := OLD.status;
        allowed := NEW.attempts = OLD.attempts + 1
               AND (NEW.lease_token > OLD.lease_token OR NEW.model = 'atomic');
    ELSE
        was := OLD.status;
        allowed := NEW.attempts = OLD.attempts AND NEW.lease_token = OLD.lease_token AND CASE
            -- a heartbeat, or an operator who sets another time or bound
            WHEN NEW.status = was THEN was IN ('pending', 'processing', 'failed')
            WHEN was = 'processing' THEN NEW.model = 'leased' OR NEW.status <> 'pending'
            WHEN was = 'dead' THEN NEW.status = 'pending' AND NEW.max_attempts > OLD.max_attempts
            ELSE false
        END;
    END IF;

    IF NOT allowed THEN
        RAISE EXCEPTION 'webhook_receipt: the step from % to % is refused',
            coalesce(was, 'nothing'), NEW.status
            USING ERRCODE = 'restrict_violation',
                  HINT = 'Processed and rejected receipts are final; a dead one is requeued with '
                         'more attempts; only a claim counts an attempt and takes a new token.';
    END IF;

    IF was IS DISTINCT FROM NEW.status THEN
        INSERT INTO receipt_transition
            (source, event_id, from_status, to_status, attempt, reason, actor)
        VALUES
            (NEW.source, NEW.event_id, was, NEW.status, NEW.attempts,
             CASE NEW.status
                 WHEN 'processed' THEN NEW.change
                 WHEN 'processing' THEN NULL
                 ELSE NEW.failure_reason
             END,
             NEW.actor);
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER webhook_receipt_step
    AFTER INSERT OR UPDATE ON webhook_receipt
    FOR EACH ROW EXECUTE FUNCTION step_receipt();

-- What arrived stays as it arrived.
CREATE TRIGGER webhook_receipt_arrival_is_final
    BEFORE UPDATE OF source, event_id, model, event_type, payload, raw_body, signature_headers,
                     received_at
    ON webhook_receipt
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Receipts are purged once they are final, and never all at once.
CREATE FUNCTION refuse_unfinished() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.status IN ('processed', 'rejected', 'dead') THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'webhook_receipt: DELETE of a % receipt refused', OLD.status
        USING ERRCODE = 'restrict_violation',
              HINT = 'Delete processed, rejected or dead receipts, later than the sender retries.';
END
$$;

CREATE TRIGGER webhook_receipt_finished_before_purge
    BEFORE DELETE ON webhook_receipt
    FOR EACH ROW EXECUTE FUNCTION refuse_unfinished();

CREATE TRIGGER webhook_receipt_not_truncated
    BEFORE TRUNCATE ON webhook_receipt
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();


-- For operators: receipts by source, model, type and status, with their attempts and the age of the
-- oldest.
CREATE VIEW operator_receipts AS
SELECT source, model, event_type, status,
       count(*)                              AS receipts,
       sum(attempts)                         AS attempts,
       max(attempts)                         AS most_attempts,
       clock_timestamp() - min(received_at)  AS oldest_age,
       min(next_attempt_at)                  AS next_attempt_at
FROM webhook_receipt
GROUP BY source, model, event_type, status;

-- For operators: how long the oldest receipt that may be claimed has been waiting, by source.
CREATE VIEW operator_backlog AS
SELECT source,
       count(*) FILTER (WHERE next_attempt_at <= clock_timestamp()) AS due,
       count(*) FILTER (WHERE next_attempt_at > clock_timestamp())  AS backing_off,
       max(clock_timestamp() - received_at) FILTER (WHERE status = 'pending') AS oldest_pending_age,
       max(clock_timestamp() - next_attempt_at)                     AS longest_overdue
FROM webhook_receipt
WHERE next_attempt_at IS NOT NULL
GROUP BY source;

-- For operators: why receipts failed, were rejected or died, and the attempts that it took.
CREATE VIEW operator_reasons AS
SELECT source, event_type, status, failure_reason,
       count(*)             AS receipts,
       sum(attempts)        AS attempts,
       max(last_attempt_at) AS last_attempt_at
FROM webhook_receipt
WHERE status IN ('failed', 'rejected', 'dead')
GROUP BY source, event_type, status, failure_reason;

-- For operators: deliveries by what they were, duplicates apart from those told of a failure.
CREATE VIEW operator_deliveries AS
SELECT source,
       count(*)                                           AS deliveries,
       count(*) FILTER (WHERE counted_as = 'new')         AS new,
       count(*) FILTER (WHERE counted_as = 'duplicate')   AS duplicate,
       count(*) FILTER (WHERE counted_as = 'conflict')    AS conflict,
       count(*) FILTER (WHERE counted_as = 'invalid')     AS invalid,
       count(*) FILTER (WHERE answer = 'failed')          AS told_failed,
       max(received_at)                                   AS last_received_at
FROM webhook_delivery
GROUP BY source;

-- For operators: refusals by reason, how many events and how many deliveries they were.
CREATE VIEW operator_refusals AS
SELECT source, reason, constraint_name,
       count(*)        AS refused,
       sum(deliveries) AS deliveries,
       min(first_seen) AS first_seen,
       max(last_seen)  AS last_seen
FROM webhook_refusal
GROUP BY source, reason, constraint_name;


-- ============================================================================================
-- Outbox
-- ============================================================================================

-- One row for each effect that is to be had outside, written by the transaction that causes it:
-- what to tell whom, under which idempotency key, and how far that has come.
CREATE TABLE outbox_message (
    topic            text COLLATE "C" NOT NULL,
    -- The same at every try, so that the downstream knows a repetition.
    key              text COLLATE "C" NOT NULL,
    payload          jsonb            NOT NULL,
    enqueued_at      timestamptz      NOT NULL DEFAULT clock_timestamp(),

    -- From here on with the meaning that webhook_receipt gives them.
    status           text COLLATE "C" NOT NULL DEFAULT 'pending',
    attempts         integer          NOT NULL DEFAULT 0,
    max_attempts     integer          NOT NULL DEFAULT 10,
    last_attempt_at  timestamptz,
    next_attempt_at  timestamptz               DEFAULT clock_timestamp(),
    sent_at          timestamptz,
    failure_reason   text COLLATE "C",
    actor            text COLLATE "C" NOT NULL DEFAULT 'enqueue',
    lease_token      bigint           NOT NULL DEFAULT 0,
    lease_expires_at timestamptz,

    CONSTRAINT outbox_message_once PRIMARY KEY (topic, key),

    CONSTRAINT outbox_message_topic_bounded  CHECK (octet_length(topic) BETWEEN 1 AND 1024),
    CONSTRAINT outbox_message_key_bounded    CHECK (octet_length(key) BETWEEN 1 AND 1024),
    CONSTRAINT outbox_message_actor_bounded  CHECK (octet_length(actor) BETWEEN 1 AND 255),
    CONSTRAINT outbox_message_reason_bounded
        CHECK (octet_length(failure_reason) BETWEEN 1 AND 1024),

    CONSTRAINT outbox_message_status_known CHECK (
        status IN ('pending', 'processing', 'sent', 'failed', 'rejected')
        OR status = 'dead' AND attempts = max_attempts),
    CONSTRAINT outbox_message_attempts_bounded CHECK (
        attempts BETWEEN 0 AND max_attempts AND max_attempts > 0),
    -- What may be claimed has an attempt left, so a claim never fails on its own count.
    CONSTRAINT outbox_message_claimable_is_due CHECK (
        (next_attempt_at IS NOT NULL) = (status IN ('pending', 'failed'))
        AND (next_attempt_at IS NULL OR attempts < max_attempts)),
    CONSTRAINT outbox_message_processing_is_leased CHECK (
        (lease_expires_at IS NOT NULL) = (status = 'processing')),
    CONSTRAINT outbox_message_sent_has_time CHECK (
        (sent_at IS NOT NULL) = (status = 'sent')),
    CONSTRAINT outbox_message_failure_has_reason CHECK (
        failure_reason IS NOT NULL OR status NOT IN ('failed', 'rejected', 'dead'))
)
WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);

CREATE INDEX outbox_message_due ON outbox_message (next_attempt_at)
    WHERE next_attempt_at IS NOT NULL;

CREATE INDEX outbox_message_held ON outbox_message (last_attempt_at)
    WHERE status = 'processing';

-- The steps of a receipt that is leased, with sent in the place of processed.
CREATE FUNCTION step_message() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF (CASE
        WHEN TG_OP = 'INSERT' THEN
            NEW.status = 'pending' AND NEW.attempts = 0
        WHEN OLD.status IN ('pending', 'failed') AND NEW.status = 'processing' THEN
            NEW.attempts = OLD.attempts + 1 AND NEW.lease_token > OLD.lease_token
        WHEN NEW.attempts <> OLD.attempts OR NEW.lease_token <> OLD.lease_token THEN
            false
        WHEN NEW.status = OLD.status THEN
            OLD.status IN ('pending', 'processing', 'failed')
        WHEN OLD.status = 'dead' THEN
            NEW.status = 'pending' AND NEW.max_attempts > OLD.max_attempts
        ELSE
            OLD.status = 'processing'
    END) THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION 'outbox_message: the step to % is refused', NEW.status
        USING ERRCODE = 'restrict_violation',
              HINT = 'Sent and rejected messages are final; a dead one is requeued with more '
                     'attempts; only a claim counts an attempt and takes a new token.';
END
$$;

CREATE TRIGGER outbox_message_step
    AFTER INSERT OR UPDATE ON outbox_message
    FOR EACH ROW EXECUTE FUNCTION step_message();

-- What is to be sent stays as it was enqueued.
CREATE TRIGGER outbox_message_content_is_final
    BEFORE UPDATE OF topic, key, payload, enqueued_at ON outbox_message
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Messages are purged once they are final, later than their cause could come again: a purged key
-- is new when it is enqueued once more.
CREATE FUNCTION refuse_unsent() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.status IN ('sent', 'rejected', 'dead') THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'outbox_message: DELETE of a % message refused', OLD.status
        USING ERRCODE = 'restrict_violation',
              HINT = 'Delete sent, rejected or dead messages, later than their causes recur.';
END
$$;

CREATE TRIGGER outbox_message_final_before_purge
    BEFORE DELETE ON outbox_message
    FOR EACH ROW EXECUTE FUNCTION refuse_unsent();

CREATE TRIGGER outbox_message_not_truncated
    BEFORE TRUNCATE ON outbox_message
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();


-- For operators: messages by topic and status, with their attempts and the age of the oldest.
CREATE VIEW operator_outbox AS
SELECT topic, status,
       count(*)                             AS messages,
       sum(attempts)                        AS attempts,
       max(attempts)                        AS most_attempts,
       clock_timestamp() - min(enqueued_at) AS oldest_age,
       min(next_attempt_at)                 AS next_attempt_at
FROM outbox_message
GROUP BY topic, status;

-- For operators: why messages failed, were rejected or died.
CREATE VIEW operator_outbox_reasons AS
SELECT topic, status, failure_reason,
       count(*)             AS messages,
       sum(attempts)        AS attempts,
       max(last_attempt_at) AS last_attempt_at
FROM outbox_message
WHERE status IN ('failed', 'rejected', 'dead')
GROUP BY topic, status, failure_reason;


-- ============================================================================================
-- Operations
-- ============================================================================================

-- For operators: each accepted event of every receiver, under the name of its type. Corrections of
-- email events are ours, not the sender's, and left out.
CREATE VIEW operator_events AS
SELECT source, event_id, event_type AS type, received_at
FROM webhook_receipt
UNION ALL
SELECT source, event_id, 'snapshot', received_at
FROM webhook_inbox
UNION ALL
SELECT source, event_id, type, received_at
FROM email_event
WHERE type IS NOT NULL;

-- For operators: deliveries of each day (UTC) by source and type: how many events came first, and
-- how many came again. What a refusal's type was is not known, unless its event was accepted.
CREATE VIEW operator_daily AS
SELECT coalesce(e.day, d.day) AS day, coalesce(e.source, d.source) AS source,
       coalesce(e.type, d.type) AS type,
       coalesce(e.events, 0) AS events, coalesce(d.duplicates, 0) AS duplicates
FROM (
    SELECT (received_at AT TIME ZONE 'UTC')::date AS day, source, type, count(*) AS events
    FROM operator_events
    GROUP BY 1, 2, 3
) AS e
FULL JOIN (
    SELECT (d.received_at AT TIME ZONE 'UTC')::date AS day, d.source, e.type,
           count(*) AS duplicates
    FROM webhook_delivery AS d
    JOIN operator_events AS e USING (source, event_id)
    WHERE d.counted_as = 'duplicate'
    GROUP BY 1, 2, 3
) AS d ON (e.day, e.source, e.type) = (d.day, d.source, d.type);

-- For operators: deliveries of each day (UTC) and source, and the share of them that failed: was
-- refused, or told to come again by a failing change. Duplicates are no failures.
CREATE VIEW operator_failure_rate AS
SELECT (received_at AT TIME ZONE 'UTC')::date AS day, source,
       count(*)                                             AS deliveries,
       count(*) FILTER (WHERE counted_as = 'duplicate')     AS duplicates,
       count(*) FILTER (WHERE counted_as = 'conflict')      AS conflict,
       count(*) FILTER (WHERE counted_as = 'invalid')       AS invalid,
       count(*) FILTER (WHERE answer = 'failed')            AS told_failed,
       (count(*) FILTER (WHERE counted_as IN ('conflict', 'invalid') OR answer = 'failed')
           ::numeric / count(*))::numeric(5, 4)             AS failure_rate
FROM webhook_delivery
GROUP BY 1, 2;

-- For operators: one body under several event ids. Where a scheme signs the body but not the id
-- (GitHub, Shopify), this is what a captured delivery sent again looks like.
CREATE VIEW operator_same_body AS
SELECT source, sha256(raw_body) AS digest,
       count(*)                 AS events,
       min(received_at)         AS first_received_at,
       max(received_at)         AS last_received_at
FROM webhook_receipt
GROUP BY 1, 2
HAVING count(*) > 1;

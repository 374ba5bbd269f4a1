-- For a clone that is judged: what object_state showed to its readers, state after state.


-- One row for each state that a transaction gave an object; it goes with that transaction.
CREATE TABLE object_state_audit (
    source     text COLLATE "C" NOT NULL,
    object_id  text COLLATE "C" NOT NULL,
    -- Drawn while the object's row is locked, so within one object it grows from commit to commit.
    place      bigint GENERATED ALWAYS AS IDENTITY,
    written_by xid8             NOT NULL DEFAULT pg_current_xact_id(),
    -- Both null: the object was removed.
    revision   bigint,
    snapshot   jsonb,

    CONSTRAINT object_state_audit_in_order PRIMARY KEY (source, object_id, place)
);

COMMENT ON TABLE object_state_audit IS 'of the judge';


CREATE FUNCTION audit_object_state() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        INSERT INTO object_state_audit (source, object_id)
        SELECT source, object_id
          FROM object_state;
        RETURN NULL;
    END IF;
    IF TG_OP = 'DELETE'
       OR TG_OP = 'UPDATE' AND (OLD.source, OLD.object_id) <> (NEW.source, NEW.object_id) THEN
        INSERT INTO object_state_audit (source, object_id)
        VALUES (OLD.source, OLD.object_id);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO object_state_audit (source, object_id, revision, snapshot)
        VALUES (NEW.source, NEW.object_id, NEW.revision, NEW.snapshot);
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER object_state_audited
    AFTER INSERT OR UPDATE OR DELETE ON object_state
    FOR EACH ROW EXECUTE FUNCTION audit_object_state();

CREATE TRIGGER object_state_emptying_audited
    BEFORE TRUNCATE ON object_state
    FOR EACH STATEMENT EXECUTE FUNCTION audit_object_state();

-- A session that plays replica would pass by ordinary triggers.
ALTER TABLE object_state ENABLE ALWAYS TRIGGER object_state_audited;
ALTER TABLE object_state ENABLE ALWAYS TRIGGER object_state_emptying_audited;

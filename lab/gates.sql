-- Gates inside statements, for a clone that is thrown away: before a row of the receiver's is
-- inserted, changed or deleted, its backend passes a lock that the lab can hold.

CREATE SCHEMA lab_gate;

-- A gate has two sides, used in turn: while one opens and shuts again the other stays shut, so
-- that no backend ever passes twice, however the server's processes are scheduled.
-- The lock is given back at once, so that a transaction takes none along. lock_timeout is for the
-- receiver's own locks: how long the lab holds a gate must not count.
CREATE FUNCTION lab_gate.pass() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog
SET lock_timeout = 0
AS $$
DECLARE
    side int := coalesce(nullif(current_setting('lab_gate.side', true), ''), '0')::int;
BEGIN
    PERFORM set_config('lab_gate.side', (1 - side)::text, false);
    PERFORM pg_advisory_lock_shared(1734440036 + side, pg_backend_pid());
    PERFORM pg_advisory_unlock_shared(1734440036 + side, pg_backend_pid());
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END
$$;

-- Partitions get the trigger of their parent. Tables of the judge's say so in their comment.
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN
        SELECT c.oid::regclass::text
          FROM pg_class AS c
          JOIN pg_namespace AS n ON n.oid = c.relnamespace
         WHERE c.relkind IN ('r', 'p')
           AND NOT c.relispartition
           AND c.relpersistence <> 't'
           AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
           AND obj_description(c.oid, 'pg_class') IS DISTINCT FROM 'of the judge'
    LOOP
        EXECUTE format('
            CREATE TRIGGER "000_lab_gate"
                BEFORE INSERT OR UPDATE OR DELETE ON %s
                FOR EACH ROW EXECUTE FUNCTION lab_gate.pass()', name);
    END LOOP;
END
$$;

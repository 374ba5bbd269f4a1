-- retry_during_commit
--
-- The law: one event makes one change, however many copies are in flight.
-- The receiver whose commands these are keeps it.
--
-- Open a terminal for each of these names, and psql in it: first, retry.
-- Paste the numbered lines into the terminal that each of them names, one after the other, and
-- compare what comes back with what stands behind "=>". A line that waits returns later: the line
-- that ends its wait says so.
--
-- The tables: an empty database with snapshots.schema.sql. For example:
--   createdb by_hand
--   psql -X -d by_hand -f snapshots.schema.sql
-- and in each terminal:
--   psql -X -d by_hand

-- first: deliver shop evt_paid order@1 {"value": true}
-- 1 first
begin isolation level read committed;
-- => BEGIN

-- 2 first
INSERT INTO webhook_inbox (source, event_id, object_id, revision, snapshot)
VALUES ('shop'::text, 'evt_paid'::text, 'order'::text, '1'::bigint, '{"value": true}'::jsonb)
ON CONFLICT DO NOTHING -- names no target: both unique constraints are covered
RETURNING event_id;
-- => event_id: evt_paid
-- => INSERT 0 1

-- 3 first
INSERT INTO object_state AS current (source, object_id, revision, snapshot)
VALUES ('shop'::text, 'order'::text, '1'::bigint, '{"value": true}'::jsonb)
ON CONFLICT (source, object_id) DO UPDATE
SET revision = excluded.revision,
    snapshot = excluded.snapshot
WHERE current.revision < excluded.revision -- strictly, decided on the locked row
RETURNING revision;
-- => revision: 1
-- => INSERT 0 1

-- retry: deliver shop evt_paid order@1 {"value": true}
-- 4 retry
begin isolation level read committed;
-- => BEGIN

-- 5 retry, waits for first (ShareLock on transactionid)
INSERT INTO webhook_inbox (source, event_id, object_id, revision, snapshot)
VALUES ('shop'::text, 'evt_paid'::text, 'order'::text, '1'::bigint, '{"value": true}'::jsonb)
ON CONFLICT DO NOTHING -- names no target: both unique constraints are covered
RETURNING event_id;
-- => nothing yet

-- 6 first
commit;
-- => COMMIT
-- and now line 5 returns, in retry:
-- => INSERT 0 0
-- first answers: applied

-- 7 retry
SELECT object_id = 'order'::text
   AND revision = '1'::bigint
   AND snapshot = '{"value": true}'::jsonb -- compared as jsonb: 1 is 1.0, true is not 1, no digit is lost
FROM webhook_inbox
WHERE source = 'shop'::text
  AND event_id = 'evt_paid'::text;
-- => ?column?: t
-- => SELECT 1

-- 8 retry
commit;
-- => COMMIT
-- retry answers: duplicate

-- older_waits_for_newer
--
-- The law: an older revision that waited for a newer one leaves the state unchanged.
-- The receiver whose commands these are keeps it.
--
-- Open a terminal for each of these names, and psql in it: newer, older.
-- Paste the numbered lines into the terminal that each of them names, one after the other, and
-- compare what comes back with what stands behind "=>". A line that waits returns later: the line
-- that ends its wait says so.
--
-- The tables: an empty database with snapshots.schema.sql. For example:
--   createdb by_hand
--   psql -X -d by_hand -f snapshots.schema.sql
-- and in each terminal:
--   psql -X -d by_hand

-- newer: deliver shop evt_2 order@2 {"total": 20}
-- 1 newer
begin isolation level read committed;
-- => BEGIN

-- 2 newer
INSERT INTO webhook_inbox (source, event_id, object_id, revision, snapshot)
VALUES ('shop'::text, 'evt_2'::text, 'order'::text, '2'::bigint, '{"total": 20}'::jsonb)
ON CONFLICT DO NOTHING -- names no target: both unique constraints are covered
RETURNING event_id;
-- => event_id: evt_2
-- => INSERT 0 1

-- 3 newer
INSERT INTO object_state AS current (source, object_id, revision, snapshot)
VALUES ('shop'::text, 'order'::text, '2'::bigint, '{"total": 20}'::jsonb)
ON CONFLICT (source, object_id) DO UPDATE
SET revision = excluded.revision,
    snapshot = excluded.snapshot
WHERE current.revision < excluded.revision -- strictly, decided on the locked row
RETURNING revision;
-- => revision: 2
-- => INSERT 0 1

-- older: deliver shop evt_1 order@1 {"total": 10}
-- 4 older
begin isolation level read committed;
-- => BEGIN

-- 5 older
INSERT INTO webhook_inbox (source, event_id, object_id, revision, snapshot)
VALUES ('shop'::text, 'evt_1'::text, 'order'::text, '1'::bigint, '{"total": 10}'::jsonb)
ON CONFLICT DO NOTHING -- names no target: both unique constraints are covered
RETURNING event_id;
-- => event_id: evt_1
-- => INSERT 0 1

-- 6 older, waits for newer (ShareLock on transactionid)
INSERT INTO object_state AS current (source, object_id, revision, snapshot)
VALUES ('shop'::text, 'order'::text, '1'::bigint, '{"total": 10}'::jsonb)
ON CONFLICT (source, object_id) DO UPDATE
SET revision = excluded.revision,
    snapshot = excluded.snapshot
WHERE current.revision < excluded.revision -- strictly, decided on the locked row
RETURNING revision;
-- => nothing yet

-- 7 newer
commit;
-- => COMMIT
-- and now line 6 returns, in older:
-- => INSERT 0 0
-- newer answers: applied

-- 8 older
commit;
-- => COMMIT
-- older answers: stale

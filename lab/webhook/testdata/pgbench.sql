-- What one accepted snapshot costs the database: the receiver's transaction, then its entry. The
-- bounds on waiting, which the receiver sends along with each begin, would cost pgbench three more
-- round trips and are left out.
\set n random(1, 9000000000000000000)
\set o random(1, 1000)
begin isolation level read committed;
INSERT INTO webhook_inbox (source, event_id, object_id, revision, snapshot)
VALUES ('pgbench', ((:n)::text), ((:o)::text), :n, '{"v": 1, "status": "paid", "total": 1250}'::jsonb)
ON CONFLICT DO NOTHING
RETURNING event_id;
INSERT INTO object_state AS current (source, object_id, revision, snapshot)
VALUES ('pgbench', ((:o)::text), :n, '{"v": 1, "status": "paid", "total": 1250}'::jsonb)
ON CONFLICT (source, object_id) DO UPDATE
SET revision = excluded.revision,
    snapshot = excluded.snapshot
WHERE current.revision < excluded.revision
RETURNING revision;
COMMIT;
begin isolation level read committed;
INSERT INTO webhook_delivery (source, event_id, delivery_id, counted_as, answer)
VALUES ('pgbench', ((:n)::text), nullif('', ''), 'new', 'applied');
COMMIT;

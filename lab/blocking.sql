-- One observation of who waits for whom, in two kinds of rows. Of each backend that is asked about:
-- pg_blocking_pids, which is the verdict. Of the lock table: what these backends wait for, which is
-- the evidence, and who holds which transaction. They are matched by the reader: joining them here
-- would cost more than reading the whole lock table does.
SELECT pid,
       pg_blocking_pids(pid),
       NULL::boolean AS granted,
       NULL::text AS locktype,
       NULL::text AS mode,
       NULL::text AS relation,
       NULL::text AS xid,
       NULL::timestamptz AS waitstart,
       NULL::oid AS classid,
       NULL::oid AS objid,
       NULL::smallint AS objsubid
  FROM unnest($1::int4[]) AS pid
 UNION ALL
SELECT pid,
       NULL,
       granted,
       locktype,
       mode,
       relation::regclass::text,
       transactionid::text,
       waitstart,
       classid,
       objid,
       objsubid
  FROM pg_locks
 WHERE NOT granted AND pid = ANY ($1::int4[])
    OR granted AND locktype = 'transactionid'

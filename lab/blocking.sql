-- One observation of who waits for whom: pg_blocking_pids gives the verdict, the waiter's ungranted
-- row of pg_locks the evidence, and for a wait on a transaction the holder of that very xid.
WITH locks AS MATERIALIZED (
	SELECT pid, locktype, mode, granted, relation, transactionid, classid, objid, objsubid, waitstart
	  FROM pg_locks
)
SELECT w.pid,
       pg_blocking_pids(w.pid),
       waiting.locktype,
       waiting.mode,
       waiting.relation::regclass::text,
       waiting.transactionid::text,
       holder.pid,
       waiting.waitstart,
       waiting.classid,
       waiting.objid,
       waiting.objsubid
  FROM unnest($1::int4[]) AS w(pid)
  LEFT JOIN locks AS waiting
    ON waiting.pid = w.pid
   AND NOT waiting.granted
  LEFT JOIN locks AS holder
    ON holder.granted
   AND holder.locktype = 'transactionid'
   AND waiting.locktype = 'transactionid'
   AND holder.transactionid = waiting.transactionid

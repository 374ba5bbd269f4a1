package properties

import "webhooklab/lab"

// Receipts are the laws of both ways to process an event, demanded after every run.
var Receipts = []lab.Invariant{
	OneEffect, EffectIffProcessed, AckedHasReceipt, AttemptsNeverShrink, StepsFollow,
	FinalIsFinal, DeliveriesAddUp,
}

// OneEffect: the table of effects has no key, so nothing but the receiver prevents a second one.
var OneEffect = lab.Invariant{
	Name: "one_effect",
	Law:  "an event makes its business change once",
	SQL: `
SELECT source, event_id, count(*)
  FROM effects
 GROUP BY source, event_id
HAVING count(*) > 1`,
}

// EffectIffProcessed: neither a mark without its effect, nor an effect without its mark.
var EffectIffProcessed = lab.Invariant{
	Name: "effect_iff_processed",
	Law:  "a change is there if and only if its receipt says processed",
	SQL: `
SELECT coalesce(r.source, e.source) AS source, coalesce(r.event_id, e.event_id) AS event_id,
       r.status, e.note
  FROM (SELECT * FROM receipts WHERE status = 'processed' AND change <> 'ignored') AS r
  FULL JOIN effects AS e
    ON e.source = r.source
   AND e.event_id = r.event_id
 WHERE r.source IS NULL OR e.source IS NULL`,
}

// AckedHasReceipt: whatever was acknowledged can be looked up.
var AckedHasReceipt = lab.Invariant{
	Name: "acked_has_receipt",
	Law:  "an acknowledged event has a receipt",
	SQL: `
SELECT a.source, a.event_id, a.outcome
  FROM acked AS a
 WHERE NOT EXISTS (
	SELECT FROM receipts AS r
	 WHERE r.source = a.source AND r.event_id = a.event_id
 )`,
}

// AttemptsNeverShrink: an attempt that was begun stays counted, also when it was lost.
var AttemptsNeverShrink = lab.Invariant{
	Name: "attempts_never_shrink",
	Law:  "attempts never shrink, and each processing is one more",
	SQL: `
SELECT *
  FROM (
	SELECT t.*, lag(attempt, 1, 0) OVER w AS before
	  FROM transitions AS t
	WINDOW w AS (PARTITION BY source, event_id ORDER BY step)
  ) AS steps
 WHERE attempt < before
    OR to_status = 'processing' AND attempt <> before + 1`,
}

// StepsFollow: the history of a receipt has no hole, and ends where the receipt stands.
var StepsFollow = lab.Invariant{
	Name: "steps_follow",
	Law:  "each step of a receipt begins where the last one ended",
	SQL: `
SELECT source, event_id, step, from_status, to_status, last, status
  FROM (
	SELECT t.*, lag(to_status) OVER w AS last,
	       lead(to_status) OVER w IS NULL AS ends, r.status
	  FROM transitions AS t
	  JOIN receipts AS r USING (source, event_id)
	WINDOW w AS (PARTITION BY source, event_id ORDER BY step)
  ) AS steps
 WHERE from_status IS DISTINCT FROM last
    OR ends AND to_status <> status`,
}

// FinalIsFinal: only a dead receipt is ever taken up again, and then with the name of who asked.
var FinalIsFinal = lab.Invariant{
	Name: "final_is_final",
	Law:  "processed and rejected are final; a dead receipt leaves that only by being requeued",
	SQL: `
SELECT source, event_id, step, from_status, to_status, actor
  FROM transitions
 WHERE from_status IN ('processed', 'rejected')
    OR from_status = 'dead' AND to_status <> 'pending'`,
}

// HistoryIsWritten: [AttemptsNeverShrink] and its like can only tell what was written down, so
// nothing may be missing. It needs the trigger of schema.sql, which some demonstrations do without.
var HistoryIsWritten = lab.Invariant{
	Name: "history_is_written",
	Law:  "a receipt's history begins with its arrival and tells as many attempts as it had",
	SQL: `
SELECT r.source, r.event_id, r.status, r.attempts, t.steps, t.attempts AS told
  FROM receipts AS r
  LEFT JOIN (
	SELECT source, event_id, count(*) AS steps,
	       count(*) FILTER (WHERE to_status = 'processing') AS attempts,
	       bool_or(from_status IS NULL) AS arrived
	  FROM transitions GROUP BY source, event_id
  ) AS t
    ON t.source = r.source
   AND t.event_id = r.event_id
 WHERE t.arrived IS NOT TRUE
    OR t.attempts <> r.attempts`,
}

// WatchedReceipts are the laws of receipts on a database that has the trigger.
var WatchedReceipts = append(Receipts[:len(Receipts):len(Receipts)], HistoryIsWritten)

// DeliveriesAddUp: the accounting closes for each event, and so for each source, over its
// deliveries and its receipt.
var DeliveriesAddUp = lab.Invariant{
	Name: "deliveries_add_up",
	Law:  "each receipt has one new delivery, and every other delivery is told apart",
	SQL: `
SELECT coalesce(r.source, d.source) AS source, coalesce(r.event_id, d.event_id) AS event_id,
       r.status, d.new, d.odd
  FROM receipts AS r
  FULL JOIN (
	SELECT source, event_id,
	       count(*) FILTER (WHERE counted_as = 'new') AS new,
	       count(*) FILTER (WHERE counted_as NOT IN
	           ('new', 'duplicate', 'conflict', 'invalid')) AS odd
	  FROM deliveries GROUP BY source, event_id
  ) AS d
    ON d.source = r.source
   AND d.event_id = r.event_id
 WHERE coalesce(d.new, 0) <> (r.source IS NOT NULL)::int
    OR d.odd > 0
    OR r.status NOT IN ('pending', 'processing', 'processed', 'failed', 'rejected', 'dead')`,
}

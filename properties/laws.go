// Package properties holds what must be true of every receiver: laws in SQL over what the database
// holds, models that decide every outcome, and a checker of concurrent histories. Its tests draw
// sequences, schedules and faults.
package properties

import "webhooklab/lab"

// Snapshots are the laws of the snapshot contract, demanded after every run.
var Snapshots = []lab.Invariant{
	AcceptedOnce, AckedIsStored, RevisionHasOneEvent, ProjectionIsGreatest, ProjectionHasSource,
}

// AcceptedOnce: retries and copies leave one row.
var AcceptedOnce = lab.Invariant{
	Name: "accepted_once",
	Law:  "an event is accepted once, however often it is delivered",
	SQL: `
SELECT source, event_id, count(*)
  FROM events
 GROUP BY source, event_id
HAVING count(*) > 1`,
}

// AckedIsStored: an acknowledgement is a promise that the event is there, as it was delivered.
var AckedIsStored = lab.Invariant{
	Name: "acked_is_stored",
	Law:  "an acknowledged event is stored, with the content that was delivered",
	SQL: `
SELECT a.source, a.event_id, a.outcome, a.snapshot
  FROM acked AS a
 WHERE NOT EXISTS (
	SELECT
	  FROM events AS e
	 WHERE e.source = a.source
	   AND e.event_id = a.event_id
	   AND e.object_id = a.object_id
	   AND e.revision = a.revision
	   AND e.snapshot = a.snapshot::jsonb
 )`,
}

// RevisionHasOneEvent: a second event for a revision would make the state depend on luck.
var RevisionHasOneEvent = lab.Invariant{
	Name: "revision_has_one_event",
	Law:  "each revision of an object belongs to one event",
	SQL: `
SELECT source, object_id, revision, count(*)
  FROM events
 GROUP BY source, object_id, revision
HAVING count(*) > 1`,
}

// ProjectionIsGreatest: no half delivery (an event without its object) and no step back. An object
// that stands above all its events, or level with one, is fine if it was filled by a backfill,
// which the lab marks with a key of that name.
var ProjectionIsGreatest = lab.Invariant{
	Name: "projection_is_greatest",
	Law:  "an object stands at its greatest accepted revision, with that revision's snapshot",
	SQL: `
SELECT g.source, g.object_id, g.revision AS accepted, o.revision AS projected, o.snapshot
  FROM (
	SELECT DISTINCT ON (source, object_id) source, object_id, revision, snapshot
	  FROM events
	 ORDER BY source, object_id, revision DESC
  ) AS g
  LEFT JOIN objects AS o
    ON o.source = g.source
   AND o.object_id = g.object_id
 WHERE o.revision IS NULL
    OR o.revision < g.revision
    OR (o.revision = g.revision AND o.snapshot <> g.snapshot AND NOT o.snapshot ? 'backfill')`,
}

// ProjectionHasSource: a projection row that no event explains is a half delivery, unless it is a
// backfill.
var ProjectionHasSource = lab.Invariant{
	Name: "projection_has_source",
	Law:  "an object's state comes from an accepted event",
	SQL: `
SELECT o.source, o.object_id, o.revision, o.snapshot
  FROM objects AS o
 WHERE NOT o.snapshot ? 'backfill'
   AND NOT EXISTS (
	SELECT
	  FROM events AS e
	 WHERE e.source = o.source
	   AND e.object_id = o.object_id
	   AND e.revision = o.revision
 )`,
}

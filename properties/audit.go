package properties

import (
	_ "embed"

	"webhooklab/lab"
)

// Audit is SQL for a database that holds schema.sql: from then on every committed state of
// object_state stands in object_state_audit, in the order of the commits. Looking at the table now
// and then would miss a step back that was mended before the next look.
//
//go:embed audit.sql
var Audit string

// NeverStepsBack: a reader must never see an object grow older, not even for a moment. Its
// database needs [Audit].
var NeverStepsBack = lab.Invariant{
	Name: "never_steps_back",
	Law:  "each committed state of an object has a greater revision than the one before",
	SQL: `
SELECT source, object_id, revision_before, revision, snapshot
  FROM (
	SELECT source, object_id, revision, snapshot,
	       lag(revision) OVER (
		PARTITION BY source, object_id
		    ORDER BY place
	       ) AS revision_before
	  FROM (
		-- What a transaction wrote over before its commit, nobody saw.
		SELECT DISTINCT ON (source, object_id, written_by) *
		  FROM object_state_audit
		  JOIN sources USING (source)
		 ORDER BY source, object_id, written_by, place DESC
	  ) AS committed
  ) AS step
 WHERE revision IS NULL
    OR revision <= revision_before`,
}

// Audited are the laws of the snapshot contract on a database that has [Audit].
var Audited = []lab.Invariant{
	AcceptedOnce, AckedIsStored, RevisionHasOneEvent, ProjectionIsGreatest, ProjectionHasSource,
	NeverStepsBack,
}

package flawed

import "webhooklab/lab"

// A LawSin is a broken receiver that no scenario tells of, because it is plain to see in what it
// leaves behind: one law over the database must catch it.
type LawSin struct {
	Name  string // the sin, as its file is named
	Law   string // the law that it breaks
	New   lab.NewReceiver
	State lab.State // what it shows of its tables
}

// ByLaw is every such sin against the snapshot contract.
var ByLaw = []LawSin{
	{"dedup_by_digest", "accepted_once", DedupByDigest, DedupByDigestState},
	{"dedup_by_digest", "revision_has_one_event", DedupByDigest, DedupByDigestState},
	{"projection_first", "projection_has_source", ProjectionFirst, WithoutRefusals},
	{"refusal_rolled_back", "refused_once", RefusalRolledBack, lab.ReferenceState},
}

// WithoutRefusals is what the other receivers here show: they use the tables of schema.sql, and
// keep no refusals.
var WithoutRefusals = lab.State{
	{Name: "events", SQL: lab.ReferenceState.SQL("events")},
	{Name: "objects", SQL: lab.ReferenceState.SQL("objects")},
}

package lab

// A Table is something that a receiver shows the judge: a name that laws use, and a query over the
// receiver's own tables. It must yield a column source, by which rows are told to belong to a run,
// and nothing that varies from run to run: transcripts show all of it.
//
// Once says that it shows nothing of the way: however often that was cut, it ends as if it never
// had been. Counts of attempts and deliveries are not like that.
type Table struct {
	Name string
	SQL  string
	Once bool
}

// State is what the judge may see of a receiver, so that laws and scenarios serve any schema.
//
// The snapshot suite wants "events" (source, event_id, object_id, revision, snapshot of every
// accepted event) and "objects" (source, object_id, revision, snapshot of every object's current
// state). "refusals" (source, event_id, reason, deliveries) may be left out.
type State []Table

// SQL is the query of the table with this name, "" when the receiver doesn't show it.
func (s State) SQL(name string) string {
	for _, t := range s {
		if t.Name == name {
			return t.SQL
		}
	}
	return ""
}

// ReferenceState reads the snapshot tables of schema.sql.
var ReferenceState = State{
	{Name: "events", Once: true, SQL: `
SELECT source, event_id, object_id, revision, snapshot
  FROM webhook_inbox`},
	{Name: "objects", Once: true, SQL: `
SELECT source, object_id, revision, snapshot
  FROM object_state`},
	{Name: "refusals", Once: true, SQL: `
SELECT source, event_id, reason, deliveries
  FROM webhook_refusal`},
}

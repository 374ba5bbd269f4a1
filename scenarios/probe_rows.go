package scenarios

import (
	"fmt"
	"strings"
)

// A column of a row that a table accepts, and its value as SQL.
type column struct{ name, value string }

// soundRows are rows that the tables accept. A probe spoils one column of one.
var soundRows = map[string][]column{
	"webhook_inbox": {{"source", "'s'"}, {"event_id", "'e'"}, {"object_id", "'o'"},
		{"revision", "1"}, {"snapshot", "'{}'"}, {"received_at", "now()"}},
	"object_state": {{"source", "'s'"}, {"object_id", "'o'"}, {"revision", "1"},
		{"snapshot", "'{}'"}},
	"webhook_refusal": {{"source", "'s'"}, {"event_id", "'e'"}, {"reason", "'r'"},
		{"digest", "sha256('')"}, {"deliveries", "1"}, {"first_seen", "now()"},
		{"last_seen", "now()"}},
	"email_event": {{"source", "'s'"}, {"event_id", "'e'"}, {"message_id", "'m'"},
		{"recipient", "'r'"}, {"type", "'opened'"}, {"payload", "'{}'"}, {"received_at", "now()"}},
	"email_status": {{"source", "'s'"}, {"message_id", "'m'"}, {"recipient", "'r'"},
		{"rank", "0"}, {"opened", "false"}, {"clicked", "false"}, {"unsubscribed", "false"}},
	"webhook_receipt": {{"source", "'s'"}, {"event_id", "'e'"}, {"model", "'leased'"},
		{"event_type", "'t'"}, {"payload", "'{}'"}, {"raw_body", "''"},
		{"signature_headers", "'{}'"}, {"status", "'pending'"}, {"attempts", "0"},
		{"max_attempts", "5"}, {"received_at", "now()"}, {"next_attempt_at", "now()"},
		{"actor", "'a'"}, {"lease_token", "0"}},
	"webhook_delivery": {{"source", "'s'"}, {"event_id", "'e'"}, {"received_at", "now()"},
		{"counted_as", "'new'"}, {"answer", "'a'"}},
	"receipt_transition": {{"source", "'s'"}, {"event_id", "'e'"}, {"to_status", "'pending'"},
		{"at", "now()"}, {"attempt", "0"}, {"actor", "'a'"}},
	"outbox_message": {{"topic", "'s'"}, {"key", "'k'"}, {"payload", "'{}'"},
		{"enqueued_at", "now()"}, {"status", "'pending'"}, {"attempts", "0"},
		{"max_attempts", "5"}, {"next_attempt_at", "now()"}, {"actor", "'a'"},
		{"lease_token", "0"}},
}

// written is the INSERT of a sound row with some columns changed, each as "name = value".
func written(table string, changes ...string) string {
	row := append([]column(nil), soundRows[table]...)
	for _, change := range changes {
		row = changed(row, change)
	}
	names, values := make([]string, len(row)), make([]string, len(row))
	for i, c := range row {
		names[i], values[i] = c.name, c.value
	}
	sql := fmt.Sprintf("INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE VALUES (%s)",
		table, strings.Join(names, ", "), strings.Join(values, ", "))
	if table == "receipt_transition" {
		return throughTrigger(sql)
	}
	return sql
}

func changed(row []column, change string) []column {
	name, value, _ := strings.Cut(change, " = ")
	for i := range row {
		if row[i].name == name {
			row[i].value = value
			return row
		}
	}
	return append(row, column{name, value})
}

// later is what becomes of a sound row, step by step.
func later(of string, steps ...string) string {
	var sql strings.Builder
	for _, set := range steps {
		sql.WriteString("; " + update(of, set))
	}
	return written(of) + sql.String()
}

// update changes the sound row, and no other that may be there.
func update(of, set string) string {
	return "UPDATE " + of + " SET " + set + ofSoundRow(of)
}

func ofSoundRow(of string) string {
	first := soundRows[of][0]
	return " WHERE " + first.name + " = " + first.value
}

// throughTrigger has a trigger write what nobody may write by hand.
func throughTrigger(sql string) string {
	return `CREATE TEMP TABLE IF NOT EXISTS elsewhere ();
CREATE OR REPLACE FUNCTION pg_temp.write_it() RETURNS trigger LANGUAGE plpgsql AS $write$
BEGIN ` + sql + `; RETURN NULL; END $write$;
CREATE OR REPLACE TRIGGER writes_it AFTER INSERT ON elsewhere
	FOR EACH ROW EXECUTE FUNCTION pg_temp.write_it();
INSERT INTO elsewhere DEFAULT VALUES`
}

// step is a list of assignments with some of them changed, each as "name = value".
func step(assignments []column, changes ...string) string {
	row := append([]column(nil), assignments...)
	for _, change := range changes {
		row = changed(row, change)
	}
	parts := make([]string, len(row))
	for i, c := range row {
		parts[i] = c.name + " = " + c.value
	}
	return strings.Join(parts, ", ")
}

// The assignments of each step of a receipt or a message, as well formed as they can be, so that
// only one thing is wrong where one is refused.
var (
	taken = []column{{"status", "'processing'"}, {"attempts", "attempts + 1"},
		{"lease_token", "lease_token + 1"}, {"next_attempt_at", "NULL"},
		{"last_attempt_at", "now()"}, {"lease_expires_at", "now()"}}
	toProcessed = []column{{"status", "'processed'"}, {"change", "'c'"},
		{"processed_at", "now()"}, {"lease_expires_at", "NULL"}}
	toSent   = []column{{"status", "'sent'"}, {"sent_at", "now()"}, {"lease_expires_at", "NULL"}}
	toFailed = []column{{"status", "'failed'"}, {"failure_reason", "'r'"},
		{"next_attempt_at", "now()"}, {"lease_expires_at", "NULL"}}
	toRejected = []column{{"status", "'rejected'"}, {"failure_reason", "'r'"},
		{"lease_expires_at", "NULL"}}
	toDead = []column{{"status", "'dead'"}, {"failure_reason", "'r'"},
		{"max_attempts", "attempts"}, {"lease_expires_at", "NULL"}}
	toPending = []column{{"status", "'pending'"}, {"next_attempt_at", "now()"},
		{"lease_expires_at", "NULL"}}
)

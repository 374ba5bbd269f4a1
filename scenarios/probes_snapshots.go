package scenarios

// refusedChange is a statement against rows that are never changed, whoever asks.
func refusedChange(of, name, given, do string) Probe {
	return Probe{
		Of: of, Name: of + ": " + name, Law: "what " + of + " holds stays as it was written",
		Given: given, Do: do, Refused: "23001",
	}
}

// appendOnly are the three ways to change a table that only grows. The triggers are asked for each
// statement, also for one without rows.
func appendOnly(of, column string) []Probe {
	return []Probe{
		refusedChange(of, "updated", "", "UPDATE "+of+" SET "+column+" = "+column+" WHERE false"),
		refusedChange(of, "deleted", "", "DELETE FROM "+of+" WHERE false"),
		refusedChange(of, "truncated", "", "TRUNCATE "+of),
	}
}

var snapshotProbes = append(appendOnly("webhook_inbox", "revision"),
	append(appendOnly("webhook_delivery", "answer"), Probe{
		Of: "webhook_delivery", Name: "webhook_delivery: numbered by hand",
		Law: "no writer chooses the number of a delivery",
		Do: `INSERT INTO webhook_delivery (delivery_no, source, event_id, counted_as, answer)
VALUES (1000000, 's', 'e', 'new', 'a')`,
		Refused: "428C9",
	})...)

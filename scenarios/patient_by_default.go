package scenarios

import "webhooklab/lab"

// The role waits for ever, and at another level, unless a transaction says otherwise. A trigger on
// the inbox is our eye inside the transaction.
var PatientByDefault = lab.Scenario{
	Name: "patient_by_default",
	Law:  "the transaction says its level and bounds its waits itself, whatever the role's default",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender",
			lab.Setting{Name: "default_transaction_isolation", Value: "serializable"},
			lab.Setting{Name: "lock_timeout", Value: "0"},
			lab.Setting{Name: "statement_timeout", Value: "0"},
			lab.Setting{Name: "idle_in_transaction_session_timeout", Value: "0"})
		l.SQL(`CREATE TABLE IF NOT EXISTS seen_inside (source text, setting text, value text)`)
		l.SQL(`
CREATE OR REPLACE FUNCTION see_inside() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO seen_inside
	SELECT NEW.source, name, setting FROM pg_settings
	 WHERE name IN ('lock_timeout', 'statement_timeout', 'transaction_isolation',
	                'idle_in_transaction_session_timeout');
	RETURN NULL;
END $$`)
		l.SQL(`
CREATE OR REPLACE TRIGGER see_inside AFTER INSERT ON webhook_inbox
   FOR EACH ROW EXECUTE FUNCTION see_inside()`)

		sender.Deliver(paid).Answers(lab.Applied)
		l.SQL(`DROP TRIGGER see_inside ON webhook_inbox`)

		l.Rows(4, `SELECT FROM seen_inside
 WHERE source = '`+l.Source("shop")+`' AND value NOT IN ('0', 'serializable')`)
	},
	Reference: true,
}

package inbox_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// Assignments that make a step as well formed as it can be, so that only the step itself is at
// fault when it is refused.
var intoStatus = map[string]string{
	"pending": `next_attempt_at = CASE model WHEN 'leased' THEN clock_timestamp() END,
		lease_expires_at = NULL, change = NULL, processed_at = NULL`,
	"processing": `attempts = attempts + 1, next_attempt_at = NULL, change = NULL,
		processed_at = NULL, lease_token = lease_token + (model = 'leased')::int,
		lease_expires_at = CASE model WHEN 'leased' THEN clock_timestamp() END`,
	"processed": `change = 'c', processed_at = clock_timestamp(), lease_expires_at = NULL,
		next_attempt_at = NULL`,
	"failed": `failure_reason = 'r', lease_expires_at = NULL, change = NULL, processed_at = NULL,
		next_attempt_at = CASE model WHEN 'leased' THEN clock_timestamp() END`,
	"rejected": `failure_reason = 'r', lease_expires_at = NULL, next_attempt_at = NULL,
		change = NULL, processed_at = NULL`,
	"dead": `failure_reason = 'r', lease_expires_at = NULL, next_attempt_at = NULL,
		change = NULL, processed_at = NULL, max_attempts = attempts`,
}

// The way from the table's door to each status.
var wayTo = map[string]map[string][]string{
	"leased": {
		"pending": {}, "processing": {"processing"}, "processed": {"processing", "processed"},
		"failed": {"processing", "failed"}, "rejected": {"processing", "rejected"},
		"dead": {"processing", "dead"},
	},
	"atomic": {
		"processing": {}, "processed": {"processed"}, "failed": {"failed"}, "rejected": {"rejected"},
	},
}

// allowedSteps is the whole state machine.
var allowedSteps = map[string][]string{
	"leased": {
		"pending>processing", "failed>processing",
		"processing>processed", "processing>failed", "processing>rejected", "processing>dead",
		"processing>pending",
		"dead>pending",
	},
	"atomic": {
		"failed>processing", "processing>processed", "processing>failed", "processing>rejected",
	},
}

func insertReceipt(model string) string {
	status, attempts, bound := "pending", 0, "5"
	if model == "atomic" {
		status, attempts, bound = "processing", 1, "NULL"
	}
	return fmt.Sprintf(`INSERT INTO webhook_receipt (source, event_id, model, event_type, payload,
		raw_body, status, attempts, max_attempts, next_attempt_at, actor)
		VALUES ('shop', 'evt_1', '%s', 't', '{}', '', '%s', %d, %s,
		CASE WHEN '%[1]s' = 'leased' THEN clock_timestamp() END, 'test')`,
		model, status, attempts, bound)
}

func step(to string) string {
	return `UPDATE webhook_receipt SET status = '` + to + `', ` + intoStatus[to]
}

// requeueStep raises the bound, as it must.
func requeueStep(to string) string { return step(to) + `, max_attempts = max_attempts + 1` }

// inTransaction begins, runs the commands, and gives the SQLSTATE of the last one.
func inTransaction(t testing.TB, conn *pgx.Conn, last string, before ...string) string {
	t.Helper()
	tx, err := conn.Begin(bounded(t))
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback(bounded(t))) }()
	for _, sql := range before {
		_, err := tx.Exec(bounded(t), sql)
		require.NoError(t, err, sql)
	}
	_, err = tx.Exec(bounded(t), last)
	return serverError(err).Code
}

func TestAReceiptTakesTheStepsOfItsStateMachineOnly(t *testing.T) {
	d := newDatabase(t)
	conn := d.connect(t)
	for model, ways := range wayTo {
		for from, way := range ways {
			before := []string{insertReceipt(model)}
			for _, to := range way {
				before = append(before, step(to))
			}
			for to := range intoStatus {
				if to == from {
					continue
				}
				name := from + ">" + to
				last := step(to)
				if name == "dead>pending" {
					last = requeueStep(to)
				}
				code := inTransaction(t, conn, last, before...)
				if strings.Contains(strings.Join(allowedSteps[model], " "), name) {
					require.Empty(t, code, "%s %s is allowed", model, name)
					continue
				}
				// Refused by the trigger, or by a CHECK before it.
				require.Contains(t, []string{"23001", "23514"}, code, "%s %s", model, name)
			}
		}
	}
}

// claimStep and failStep set attempts and token to these expressions.
func claimStep(attempts, token string) string {
	return `UPDATE webhook_receipt SET status = 'processing', next_attempt_at = NULL,
		lease_expires_at = clock_timestamp(), attempts = ` + attempts + `, lease_token = ` + token
}

func failStep(attempts, token string) string {
	return `UPDATE webhook_receipt SET status = 'failed', next_attempt_at = clock_timestamp(),
		lease_expires_at = NULL, failure_reason = 'r', attempts = ` + attempts + `,
		lease_token = ` + token
}

// What no CHECK can see, because it takes the old row.
func TestTheStateMachineSeesTheOldRow(t *testing.T) {
	d := newDatabase(t)
	conn := d.connect(t)
	leased, atomic := insertReceipt("leased"), insertReceipt("atomic")
	claim := step("processing")
	set := func(assignment string) string { return `UPDATE webhook_receipt SET ` + assignment }
	for name, commands := range map[string][]string{
		"claim without an attempt": {leased, claimStep("attempts", "lease_token + 1")},
		"claim of two attempts":    {leased, claimStep("attempts + 2", "lease_token + 1")},
		"claim without a token":    {leased, claimStep("attempts + 1", "lease_token")},
		"result with an attempt":   {leased, claim, failStep("attempts + 1", "lease_token")},
		"result without attempts":  {leased, claim, failStep("0", "lease_token")},
		"result with a new token":  {leased, claim, failStep("attempts", "lease_token + 1")},
		"attempts shrink":          {leased, claim, step("failed"), set(`attempts = 0`)},
		"token shrinks":            {leased, claim, set(`lease_token = 0`)},
		"processed touched":        {leased, claim, step("processed"), set(`change = 'other'`)},
		"rejected touched":         {leased, claim, step("rejected"), set(`failure_reason = 'o'`)},
		"model changed":            {leased, set(`model = 'atomic'`)},
		"payload changed":          {leased, set(`payload = '[]'`)},
		"raw body changed":         {atomic, set(`raw_body = '1'`)},
		"deleted unfinished":       {leased, `DELETE FROM webhook_receipt`},
		"truncated":                {leased, `TRUNCATE webhook_receipt`},
		"history changed":          {leased, `UPDATE receipt_transition SET actor = 'x'`},
		"history deleted":          {leased, `DELETE FROM receipt_transition`},
		"history invented": {leased, `INSERT INTO receipt_transition
			(source, event_id, to_status, attempt, actor) VALUES ('shop', 'evt_1', 'dead', 1, 'x')`},
		"delivery changed": {`UPDATE webhook_delivery SET answer = 'x'`},
	} {
		last := len(commands) - 1
		code := inTransaction(t, conn, commands[last], commands[:last]...)
		require.Equal(t, "23001", code, name)
	}
	require.Empty(t, inTransaction(t, conn, `DELETE FROM webhook_receipt`,
		leased, claim, step("processed")), "what is finished may be purged")
	require.Empty(t, inTransaction(t, conn, set(`next_attempt_at = clock_timestamp()`),
		leased, claim, step("failed")), "an operator may try sooner")
}

// The schema alone holds what the receivers promise.
func TestTheSchemaRefusesAReceiptThatIsNone(t *testing.T) {
	d := newDatabase(t)
	conn := d.connect(t)
	for constraint, assignment := range map[string]string{
		"webhook_receipt_source_bounded":       `source = ''`,
		"webhook_receipt_event_id_bounded":     `event_id = repeat('x', 1025)`,
		"webhook_receipt_event_type_bounded":   `event_type = ''`,
		"webhook_receipt_headers_are_object":   `signature_headers = '[]'`,
		"webhook_receipt_actor_bounded":        `actor = ''`,
		"webhook_receipt_change_bounded":       `change = repeat('x', 1025)`,
		"webhook_receipt_reason_bounded":       `failure_reason = ''`,
		"webhook_receipt_status_known":         `status = 'x'`,
		"webhook_receipt_attempts_bounded":     `max_attempts = 0`,
		"webhook_receipt_claimable_is_due":     `next_attempt_at = NULL`,
		"webhook_receipt_processing_is_leased": `lease_expires_at = clock_timestamp()`,
		"webhook_receipt_result_has_reason":    `change = 'c'`,
	} {
		tx, err := conn.Begin(bounded(t))
		require.NoError(t, err)
		// Without its triggers, and without the constraints that would answer first.
		_, err = tx.Exec(bounded(t), insertReceipt("leased")+`;
			ALTER TABLE webhook_receipt DISABLE TRIGGER USER;
			DO $$ DECLARE c name; BEGIN
				FOR c IN SELECT conname FROM pg_constraint
					WHERE conrelid = 'webhook_receipt'::regclass AND contype = 'c'
					AND conname <> '`+constraint+`'
				LOOP EXECUTE format('ALTER TABLE webhook_receipt DROP CONSTRAINT %I', c); END LOOP;
			END $$;
			UPDATE webhook_receipt SET `+assignment)
		require.NoError(t, tx.Rollback(bounded(t)))
		require.Equal(t, constraint, serverError(err).ConstraintName, err)
	}
}

package inbox_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

func TestAnOperatorSeesWhereMailStands(t *testing.T) {
	d := newDatabase(t)
	m := d.emails()
	both := newsletter
	both.Recipients = []string{"ann@example.org", "bob@example.org", "cat@example.org"}
	require.NoError(t, m.AddMessage(bounded(t), both))
	receives(t, m, inbox.Advanced, mail("e2", "bounced"))
	receives(t, m, inbox.Unchanged, mail("e1", "failed"))
	receives(t, m, inbox.Unchanged, mail("e0", "failed"))
	corrects(t, m, inbox.Unchanged, voids("c1", "e0"))
	receives(t, m, inbox.Advanced, mail("e3", "opened"))
	early := mail("e4", "opened")
	early.MessageID = "msg_2"
	receives(t, m, inbox.Held, early)

	require.Equal(t, 1, d.number(t, `SELECT count(*) FROM operator_emails
		WHERE source = 'mail' AND status = 'bounced' AND recipients = 1 AND opened = 1
		AND clicked = 0 AND unsubscribed = 0`))
	require.Equal(t, 2, d.number(t, `SELECT recipients FROM operator_emails
		WHERE source = 'mail' AND status = 'none'`))
	require.Equal(t, 1, d.number(t, `SELECT count(*) FROM operator_held_emails
		WHERE message_id = 'msg_2' AND events = 1 AND held_since <= clock_timestamp()`))
	require.Equal(t, 1, d.number(t, `SELECT count(*) FROM operator_held_emails`))
	require.Equal(t, 1, d.number(t, `SELECT count(*) FROM email_deciding
		WHERE recipient = 'ann@example.org' AND event_id = 'e1'`))
	require.Equal(t, 2, d.number(t, `SELECT count(*) FROM email_deciding WHERE event_id IS NULL`))
}

func TestTheEmailHistoryRefusesChanges(t *testing.T) {
	d := newDatabase(t)
	receives(t, d.emails(), inbox.Held, mail("e1", "delivered"))
	for _, sql := range []string{
		`UPDATE email_event SET type = 'bounced'`,
		`DELETE FROM email_event WHERE false`,
		`TRUNCATE email_event`,
	} {
		_, err := d.pool.Exec(bounded(t), sql)
		require.Equal(t, "23001", serverError(err).Code, sql)
	}
}

func TestTheEmailSchemaAloneRefusesWhatTheReceiverWould(t *testing.T) {
	d := newDatabase(t)
	for constraint, row := range map[string]string{
		"email_event_event_id_bounded":       `'', 'm', 'r', 't', '{}', null, null, null`,
		"email_event_message_id_bounded":     `'e', '', 'r', 't', '{}', null, null, null`,
		"email_event_recipient_bounded":      `'e', 'm', '', 't', '{}', null, null, null`,
		"email_event_type_bounded":           `'e', 'm', 'r', '', '{}', null, null, null`,
		"email_event_payload_is_object":      `'e', 'm', 'r', 't', '[]', null, null, null`,
		"email_event_is_event_or_correction": `'e', 'm', 'r', 't', '{}', 'v', 'w', 'a'`,
		"email_event_voids_bounded":          `'e', null, null, null, null, '', 'w', 'a'`,
		"email_event_reason_bounded":         `'e', null, null, null, null, 'v', '', 'a'`,
		"email_event_author_bounded":         `'e', null, null, null, null, 'v', 'w', ''`,
		"email_event_voids_another":          `'e', null, null, null, null, 'e', 'w', 'a'`,
	} {
		_, err := d.pool.Exec(bounded(t), `INSERT INTO email_event (source, event_id, message_id,
			recipient, type, payload, voids, reason, author) VALUES ('s', `+row+`)`)
		require.Equal(t, constraint, serverError(err).ConstraintName)
	}
	for constraint, row := range map[string]string{
		"email_status_source_bounded":     `'', 'm', 'r', 0`,
		"email_status_message_id_bounded": `'s', '', 'r', 0`,
		"email_status_recipient_bounded":  `'s', 'm', repeat('r', 1025), 0`,
		"email_status_rank_known":         `'s', 'm', 'r', 6`,
	} {
		_, err := d.pool.Exec(bounded(t), `INSERT INTO email_status (source, message_id,
			recipient, rank) VALUES (`+row+`)`)
		require.Equal(t, constraint, serverError(err).ConstraintName)
	}
}

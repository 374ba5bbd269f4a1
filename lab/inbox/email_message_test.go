package inbox_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

// The message is known if and only if what the caller wrote with it is there.
func TestAMessageIsAddedWithTheCallersChange(t *testing.T) {
	d := newDatabase(t)
	m := d.emails()
	d.exec(t, `CREATE TABLE sent (message text)`)
	receives(t, m, inbox.Held, mail("e1", "bounced"))
	for _, commit := range []bool{false, true} {
		tx, err := d.pool.Begin(bounded(t))
		require.NoError(t, err)
		_, err = tx.Exec(bounded(t), `INSERT INTO sent VALUES ('msg_1')`)
		require.NoError(t, err)
		require.NoError(t, inbox.AddMessageTx(bounded(t), tx, newsletter))
		require.Empty(t, d.standing(t))
		if !commit {
			require.NoError(t, tx.Rollback(bounded(t)))
			require.Empty(t, d.standing(t))
			receives(t, m, inbox.Held, mail("e2", "delivered"))
			continue
		}
		require.NoError(t, tx.Commit(bounded(t)))
	}
	require.Equal(t, "msg_1 ann@example.org bounced", d.standing(t))
	require.Equal(t, 1, d.number(t, `SELECT count(*) FROM sent`))
}

// At these levels the transaction would read the history as it was before it waited.
func TestAMessageIsAddedInReadCommittedOnly(t *testing.T) {
	d := newDatabase(t)
	for _, level := range []pgx.TxIsoLevel{pgx.RepeatableRead, pgx.Serializable} {
		tx, err := d.connect(t).BeginTx(bounded(t), pgx.TxOptions{IsoLevel: level})
		require.NoError(t, err)
		err = inbox.AddMessageTx(bounded(t), tx, newsletter)
		require.Equal(t, "transaction_not_read_committed",
			failsAs(t, inbox.ErrInvalid, "", err).Reason)
		require.NoError(t, tx.Rollback(bounded(t)))
	}
}

func TestAMessageThatCannotBeAddedLeavesNothing(t *testing.T) {
	d := newDatabase(t)
	m := d.emails()
	many := newsletter
	many.Recipients = nil
	for i := range inbox.MaxRecipients {
		many.Recipients = append(many.Recipients, fmt.Sprint(i))
	}
	tooMany := many
	tooMany.Recipients = append(tooMany.Recipients, "one more")
	for reason, message := range map[string]inbox.EmailMessage{
		"recipients_missing":  {Source: "mail", MessageID: "msg_1"},
		"recipients_too_many": tooMany,
		"recipient_empty":     {Source: "mail", MessageID: "msg_1", Recipients: []string{"a", ""}},
		"recipient_has_nul":   {Source: "mail", MessageID: "msg_1", Recipients: []string{"\x00"}},
		"message_id_empty":    {Source: "mail", Recipients: []string{"a"}},
		"message_id_not_utf8": {Source: "mail", MessageID: "\xff", Recipients: []string{"a"}},
		"source_empty":        {MessageID: "msg_1", Recipients: []string{"a"}},
	} {
		err := m.AddMessage(bounded(t), message)
		require.Equal(t, reason, failsAs(t, inbox.ErrInvalid, "", err).Reason)
		require.ErrorIs(t, inbox.AddMessageTx(bounded(t), nil, message), inbox.ErrInvalid)
	}
	ended, cancel := context.WithCancel(bounded(t))
	cancel()
	require.ErrorIs(t, m.AddMessage(ended, newsletter), inbox.ErrUnavailable)
	require.Empty(t, d.standing(t))
	require.NoError(t, m.AddMessage(bounded(t), many))
	require.Equal(t, inbox.MaxRecipients, d.number(t, `SELECT count(*) FROM email_status`))
}

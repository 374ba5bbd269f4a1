package inbox_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

// One event, straight to the server: of a message with a history of so many events already, and
// one that was received before; then the correction of one.
func BenchmarkEmail(b *testing.B) {
	for _, history := range []int{0, 1000} {
		b.Run(fmt.Sprint("unchanged after ", history), func(b *testing.B) {
			d, m := benchEmails(b, history)
			events := 0
			for b.Loop() {
				events++
				receives(b, m, inbox.Unchanged, mail(fmt.Sprint("n", events), "delivered"))
			}
			d.agrees(b)
		})
		b.Run(fmt.Sprint("corrected after ", history), func(b *testing.B) {
			d, m := benchEmails(b, history)
			corrections := 0
			for b.Loop() {
				corrections++
				corrects(b, m, inbox.Unchanged, voids(fmt.Sprint("c", corrections), "first"))
			}
			d.agrees(b)
		})
	}
	b.Run("duplicate", func(b *testing.B) {
		_, m := benchEmails(b, 0)
		for b.Loop() {
			receives(b, m, inbox.Duplicate, mail("first", "opened"))
		}
	})
}

// benchEmails has a complained mail whose first event is an opening, after so many others.
func benchEmails(b *testing.B, history int) (*database, *inbox.Emails) {
	d := newDatabase(b)
	m := d.emails()
	d.exec(b, `INSERT INTO email_event (source, event_id, message_id, recipient, type, payload)
		SELECT 'mail', 'h' || n, 'msg_1', 'ann@example.org', 'opened', '{}'
		FROM generate_series(1, $1::int) AS n`, history)
	require.NoError(b, m.AddMessage(bounded(b), newsletter))
	receives(b, m, inbox.Advanced, mail("last", "complained"))
	outcome, err := m.Receive(bounded(b), mail("first", "opened"))
	require.NoError(b, err)
	require.NotEmpty(b, outcome)
	corrections := voids("c0", "first")
	_, err = m.Correct(bounded(b), corrections)
	require.NoError(b, err)
	return d, m
}

// A message to so many recipients, each with one event that came before it.
func BenchmarkAddMessage(b *testing.B) {
	for _, recipients := range []int{1, inbox.MaxRecipients} {
		b.Run(fmt.Sprint(recipients), func(b *testing.B) {
			d := newDatabase(b)
			message := inbox.EmailMessage{Source: "mail"}
			for i := range recipients {
				message.Recipients = append(message.Recipients, fmt.Sprint("r", i))
			}
			messages := 0
			for b.Loop() {
				messages++
				message.MessageID = fmt.Sprint("msg_", messages)
				require.NoError(b, d.emails().AddMessage(bounded(b), message))
			}
		})
	}
}

package inbox_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

var newsletter = inbox.EmailMessage{
	Source: "mail", MessageID: "msg_1", Recipients: []string{"ann@example.org"},
}

// mail is an event of source "mail" about msg_1 and ann.
func mail(id, kind string) inbox.EmailEvent {
	return inbox.EmailEvent{
		Source: "mail", EventID: id, MessageID: "msg_1", Recipient: "ann@example.org", Type: kind,
	}
}

// voids is a correction of an event of source "mail".
func voids(id, event string) inbox.Correction {
	return inbox.Correction{
		Source: "mail", EventID: id, Voids: event, Reason: "list washing", Author: "support",
	}
}

// emails gives the database's receiver.
func (d *database) emails() *inbox.Emails { return inbox.NewEmails(d.pool, inbox.Options{}) }

func receives(t testing.TB, m *inbox.Emails, want inbox.Outcome, e inbox.EmailEvent) {
	t.Helper()
	outcome, err := m.Receive(bounded(t), e)
	require.NoError(t, err)
	require.Equal(t, want, outcome, e.EventID)
}

func corrects(t testing.TB, m *inbox.Emails, want inbox.Outcome, c inbox.Correction) {
	t.Helper()
	outcome, err := m.Correct(bounded(t), c)
	require.NoError(t, err)
	require.Equal(t, want, outcome, c.EventID)
}

// standing is every state row in order, as text, and "" if there is none.
func (d *database) standing(t testing.TB) string {
	t.Helper()
	var rows string
	require.NoError(t, d.pool.QueryRow(bounded(t), `
		SELECT coalesce(string_agg(message_id || ' ' || recipient || ' ' || status
			|| CASE WHEN opened THEN ' opened' ELSE '' END
			|| CASE WHEN clicked THEN ' clicked' ELSE '' END
			|| CASE WHEN unsubscribed THEN ' unsubscribed' ELSE '' END, E'\n'
			ORDER BY source, message_id, recipient), '')
		FROM email_status`).Scan(&rows))
	return rows
}

func TestAStatusOnlyMovesForward(t *testing.T) {
	d := newDatabase(t)
	m := d.emails()
	require.NoError(t, m.AddMessage(bounded(t), newsletter))
	require.Equal(t, "msg_1 ann@example.org none", d.standing(t))
	for _, step := range []struct {
		id, kind string
		outcome  inbox.Outcome
		state    string
	}{
		{"e1", "deferred", inbox.Advanced, "deferred"},
		{"e2", "queued", inbox.Unchanged, "deferred"},
		{"e3", "delayed", inbox.Unchanged, "deferred"},
		{"e4", "delivered", inbox.Advanced, "delivered"},
		{"e5", "deferred", inbox.Unchanged, "delivered"},
		{"e6", "opened", inbox.Advanced, "delivered opened"},
		{"e7", "opened", inbox.Unchanged, "delivered opened"},
		{"e8", "dropped", inbox.Advanced, "bounced opened"},
		{"e9", "complained", inbox.Advanced, "complained opened"},
		{"e10", "delivered", inbox.Unchanged, "complained opened"},
		{"e11", "unsubscribed", inbox.Advanced, "complained opened unsubscribed"},
		{"e12", "clicked", inbox.Advanced, "complained opened clicked unsubscribed"},
		{"e13", "teleported", inbox.Unchanged, "complained opened clicked unsubscribed"},
	} {
		receives(t, m, step.outcome, mail(step.id, step.kind))
		require.Equal(t, "msg_1 ann@example.org "+step.state, d.standing(t), step.id)
		receives(t, m, inbox.Duplicate, mail(step.id, step.kind))
	}
	require.Equal(t, 13, d.number(t, `SELECT count(*) FROM email_event`))
}

func TestEveryTypeHasItsRank(t *testing.T) {
	d := newDatabase(t)
	for kind, rank := range map[string]int{
		"accepted": 1, "queued": 1, "sent": 1, "processed": 1,
		"deferred": 2, "delayed": 2, "soft_bounce": 2, "soft_bounced": 2,
		"delivered": 3,
		"bounced":   4, "hard_bounce": 4, "hard_bounced": 4, "dropped": 4, "failed": 4,
		"complained": 5,
		"opened":     0, "clicked": 0, "unsubscribed": 0, "Delivered": 0, "correction": 0,
	} {
		require.Equal(t, rank, d.number(t, `SELECT coalesce(email_rank($1), 0)`, kind), kind)
	}
}

func TestAnEventBeforeItsMessageIsHeld(t *testing.T) {
	d := newDatabase(t)
	m := d.emails()
	receives(t, m, inbox.Held, mail("e1", "bounced"))
	receives(t, m, inbox.Held, mail("e2", "delivered"))
	receives(t, m, inbox.Held, mail("e3", "clicked"))
	receives(t, m, inbox.Duplicate, mail("e1", "bounced"))
	require.Empty(t, d.standing(t))
	require.NoError(t, m.AddMessage(bounded(t), newsletter))
	require.Equal(t, "msg_1 ann@example.org bounced clicked", d.standing(t))
	require.NoError(t, m.AddMessage(bounded(t), newsletter))
	require.Equal(t, "msg_1 ann@example.org bounced clicked", d.standing(t))
	receives(t, m, inbox.Duplicate, mail("e1", "bounced"))
	receives(t, m, inbox.Advanced, mail("e4", "complained"))
}

func TestRecipientsAndMessagesAndSourcesStayApart(t *testing.T) {
	d := newDatabase(t)
	m := d.emails()
	both := newsletter
	both.Recipients = []string{"bob@example.org", "ann@example.org", "bob@example.org"}
	other := mail("e1", "delivered")
	other.Recipient = "bob@example.org"
	receives(t, m, inbox.Held, other)
	require.NoError(t, m.AddMessage(bounded(t), both))
	receives(t, m, inbox.Advanced, mail("e2", "bounced"))
	elsewhere := mail("e2", "complained")
	elsewhere.Source = "mail/eu"
	receives(t, m, inbox.Held, elsewhere)
	second := mail("e3", "complained")
	second.MessageID = "msg_2"
	receives(t, m, inbox.Held, second)
	require.Equal(t, "msg_1 ann@example.org bounced\nmsg_1 bob@example.org delivered",
		d.standing(t))

	late := newsletter
	late.MessageID, late.Recipients = "msg_2", []string{"cat@example.org"}
	require.NoError(t, m.AddMessage(bounded(t), late))
	late.Recipients = []string{"ann@example.org"}
	require.NoError(t, m.AddMessage(bounded(t), late))
	require.Equal(t, "msg_1 ann@example.org bounced\nmsg_1 bob@example.org delivered\n"+
		"msg_2 ann@example.org complained\nmsg_2 cat@example.org none", d.standing(t))
}

func TestAnEmailEventIDIsNeverReused(t *testing.T) {
	first := mail("e1", "delivered")
	first.Payload = []byte(`{"smtp": 250}`)
	for name, change := range map[string]func(*inbox.EmailEvent){
		"message":   func(e *inbox.EmailEvent) { e.MessageID = "msg_2" },
		"recipient": func(e *inbox.EmailEvent) { e.Recipient = "bob@example.org" },
		"type":      func(e *inbox.EmailEvent) { e.Type = "bounced" },
		"payload":   func(e *inbox.EmailEvent) { e.Payload = []byte(`{"smtp": 550}`) },
		"none":      func(e *inbox.EmailEvent) { e.Payload = nil },
	} {
		d := newDatabase(t)
		m := d.emails()
		require.NoError(t, m.AddMessage(bounded(t), newsletter))
		receives(t, m, inbox.Advanced, first)
		changed := first
		change(&changed)
		outcome, err := m.Receive(bounded(t), changed)
		failure := failsAs(t, inbox.ErrReusedEventID, outcome, err)
		require.NoError(t, failure.Unrecorded, name)
		require.Equal(t, "msg_1 ann@example.org delivered", d.standing(t), name)
		require.Equal(t, 1, d.number(t, `SELECT count(*) FROM email_event`))
		require.Equal(t, 1, d.number(t, `SELECT count(*) FROM webhook_refusal`))

		outcome, err = m.Correct(bounded(t), voids("e1", "e9"))
		failsAs(t, inbox.ErrReusedEventID, outcome, err)
	}
}

// The time is shown, and decides nothing: not what a duplicate is either.
func TestTheTimeOfAnEventIsOnlyShown(t *testing.T) {
	d := newDatabase(t)
	m := d.emails()
	e := mail("e1", "delivered")
	e.OccurredAt = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	require.NoError(t, m.AddMessage(bounded(t), newsletter))
	receives(t, m, inbox.Advanced, e)
	e.OccurredAt = e.OccurredAt.Add(time.Hour)
	receives(t, m, inbox.Duplicate, e)
	late := mail("e2", "accepted")
	late.OccurredAt = e.OccurredAt.Add(time.Hour)
	receives(t, m, inbox.Unchanged, late)
	require.Equal(t, 1, d.number(t, `SELECT count(*) FROM email_event
		WHERE event_id = 'e1' AND occurred_at = '2026-03-01 12:00Z'`))
}

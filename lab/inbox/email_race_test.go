package inbox_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

// A message, its event and the correction of that event, two of them at once and the third before
// or after: the later one waits for the earlier one's end whenever each could miss the other.
func TestNoneMissesTheOther(t *testing.T) {
	acts := map[string]act{
		"message":    adding("msg_1", "ann@example.org"),
		"event":      receiving(mail("e1", "complained")),
		"correction": correcting(voids("c1", "e1")),
		"copy":       receiving(mail("e1", "complained")),
		"rival":      receiving(mail("e2", "delivered")),
	}
	for _, c := range []struct {
		before, first, second, after string
		waits                        bool
		state                        string
	}{
		{"", "event", "message", "", true, "complained"},
		{"", "message", "event", "", true, "complained"},
		{"", "event", "copy", "message", true, "complained"},
		{"message", "event", "copy", "", true, "complained"},
		{"message", "event", "rival", "", true, "complained"},
		{"message", "rival", "event", "", true, "complained"},

		{"", "event", "correction", "message", true, "none"},
		{"", "correction", "event", "message", true, "none"},
		{"message", "event", "correction", "", true, "none"},
		{"message", "correction", "event", "", true, "none"},

		{"event", "message", "correction", "", true, "none"},
		{"event", "correction", "message", "", true, "none"},
		{"", "message", "correction", "event", false, "none"},
		{"", "correction", "message", "event", false, "none"},
	} {
		for _, end := range []string{"committed", "rolled back"} {
			t.Run(fmt.Sprint(c.before, "|", c.first, "+", c.second, "|", c.after, " ", end),
				func(t *testing.T) {
					d := newDatabase(t)
					m := d.emails()
					if c.before != "" {
						require.NoError(t, acts[c.before](t, m, "mail"))
					}
					d.overlap(t, acts[c.first], acts[c.second], c.waits, end)
					if c.after != "" {
						require.NoError(t, acts[c.after](t, m, "mail"))
					}
					require.Equal(t, "msg_1 ann@example.org "+c.state, d.standing(t))
					d.agrees(t)
				})
		}
	}
}

// overlap holds the first before its COMMIT until the second waits for it, or is done if it need
// not wait. A first that is rolled back is done again afterwards.
func (d *database) overlap(t *testing.T, first, second act, waits bool, end string) {
	t.Helper()
	held, release := make(chan uint32, 1), make(chan struct{})
	hold := between{d.pool, "COMMIT", func(tx pgx.Tx) {
		held <- tx.Conn().PgConn().PID()
		<-release
		if end == "rolled back" {
			_, err := tx.Exec(bounded(t), `SELECT 1 / 0`)
			require.Error(t, err)
		}
	}}
	ended := make(chan error, 2)
	go func() { ended <- first(t, inbox.NewEmails(hold, inbox.Options{}), "mail") }()
	holder := <-held

	conn := d.connect(t)
	answered := make(chan error, 1)
	go func() { answered <- second(t, inbox.NewEmails(conn, inbox.Options{}), "mail") }()
	if waits {
		d.waitsFor(t, conn.PgConn().PID(), holder)
	} else {
		require.NoError(t, <-answered)
	}
	close(release)
	err := <-ended
	if waits {
		require.NoError(t, <-answered)
	}
	if end == "committed" {
		require.NoError(t, err)
		return
	}
	require.ErrorIs(t, err, inbox.ErrUnavailable)
	require.NoError(t, first(t, d.emails(), "mail"))
}

func TestNoWaitForALockIsForEver(t *testing.T) {
	for _, c := range []struct {
		options          inbox.Options
		sqlstate, reason string
	}{
		{inbox.Options{LockTimeout: 20 * time.Millisecond}, "55P03", "lock_timeout"},
		{inbox.Options{StatementTimeout: 20 * time.Millisecond}, "57014", "statement_timeout"},
		{inbox.Options{Timeout: 500 * time.Millisecond}, "", "deadline"},
	} {
		d := newDatabase(t)
		holder, err := d.connect(t).Begin(bounded(t))
		require.NoError(t, err)
		_, err = holder.Exec(bounded(t),
			`SELECT email_lock('mail', 'e1', 'msg_1', ARRAY['ann@example.org'])`)
		require.NoError(t, err)

		m := inbox.NewEmails(d.pool, c.options)
		outcome, err := m.Receive(bounded(t), mail("e1", "delivered"))
		failure := failsAs(t, inbox.ErrUnavailable, outcome, err)
		require.Equal(t, []string{"lock", c.sqlstate, c.reason},
			[]string{failure.Step, failure.SQLSTATE, failure.Reason})
		outcome, err = m.Correct(bounded(t), voids("c1", "e1"))
		failsAs(t, inbox.ErrUnavailable, outcome, err)
		require.ErrorIs(t, m.AddMessage(bounded(t), newsletter), inbox.ErrUnavailable)

		require.NoError(t, holder.Rollback(bounded(t)))
		require.NoError(t, d.emails().AddMessage(bounded(t), newsletter)) // m has no patience
		receives(t, d.emails(), inbox.Advanced, mail("e1", "delivered"))
	}
}

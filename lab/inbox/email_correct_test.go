package inbox_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

func TestACorrectionLowersTheState(t *testing.T) {
	d := newDatabase(t)
	m := d.emails()
	require.NoError(t, m.AddMessage(bounded(t), newsletter))
	receives(t, m, inbox.Advanced, mail("e1", "delivered"))
	receives(t, m, inbox.Advanced, mail("e2", "bounced"))
	receives(t, m, inbox.Unchanged, mail("e3", "failed"))
	receives(t, m, inbox.Advanced, mail("e4", "opened"))

	corrects(t, m, inbox.Unchanged, voids("c1", "e2"))
	require.Equal(t, "msg_1 ann@example.org bounced opened", d.standing(t), "e3 still says so")
	corrects(t, m, inbox.Corrected, voids("c2", "e3"))
	require.Equal(t, "msg_1 ann@example.org delivered opened", d.standing(t))
	corrects(t, m, inbox.Corrected, voids("c3", "e4"))
	require.Equal(t, "msg_1 ann@example.org delivered", d.standing(t))
	corrects(t, m, inbox.Corrected, voids("c4", "e1"))
	require.Equal(t, "msg_1 ann@example.org none", d.standing(t))

	corrects(t, m, inbox.Duplicate, voids("c2", "e3"))
	receives(t, m, inbox.Duplicate, mail("e3", "failed"))
	require.Equal(t, "msg_1 ann@example.org none", d.standing(t), "a replay brings nothing back")
	receives(t, m, inbox.Advanced, mail("e5", "failed"))
}

func TestACorrectionMayComeFirst(t *testing.T) {
	d := newDatabase(t)
	m := d.emails()
	corrects(t, m, inbox.Held, voids("c1", "e1"))
	require.NoError(t, m.AddMessage(bounded(t), newsletter))
	receives(t, m, inbox.Unchanged, mail("e1", "complained"))
	receives(t, m, inbox.Advanced, mail("e2", "delivered"))
	require.Equal(t, "msg_1 ann@example.org delivered", d.standing(t))
}

func TestACorrectionOfAHeldEventIsHeld(t *testing.T) {
	d := newDatabase(t)
	m := d.emails()
	receives(t, m, inbox.Held, mail("e1", "complained"))
	receives(t, m, inbox.Held, mail("e2", "delivered"))
	corrects(t, m, inbox.Held, voids("c1", "e1"))
	corrects(t, m, inbox.Held, voids("c2", "e1"))
	require.NoError(t, m.AddMessage(bounded(t), newsletter))
	require.Equal(t, "msg_1 ann@example.org delivered", d.standing(t))
}

// A correction of a correction counts for nothing, whichever comes first.
func TestACorrectionIsNotVoided(t *testing.T) {
	for _, first := range []bool{true, false} {
		d := newDatabase(t)
		m := d.emails()
		require.NoError(t, m.AddMessage(bounded(t), newsletter))
		receives(t, m, inbox.Advanced, mail("e1", "bounced"))
		if first {
			corrects(t, m, inbox.Held, voids("c2", "c1"))
			corrects(t, m, inbox.Corrected, voids("c1", "e1"))
		} else {
			corrects(t, m, inbox.Corrected, voids("c1", "e1"))
			corrects(t, m, inbox.Unchanged, voids("c2", "c1"))
		}
		require.Equal(t, "msg_1 ann@example.org none", d.standing(t))
		require.Equal(t, 3, d.number(t, `SELECT count(*) FROM email_event`))
	}
}

func TestACorrectionIsNeverReused(t *testing.T) {
	first := voids("c1", "e1")
	for name, change := range map[string]func(*inbox.Correction){
		"voids":  func(c *inbox.Correction) { c.Voids = "e2" },
		"reason": func(c *inbox.Correction) { c.Reason = "another" },
		"author": func(c *inbox.Correction) { c.Author = "another" },
	} {
		d := newDatabase(t)
		m := d.emails()
		corrects(t, m, inbox.Held, first)
		changed := first
		change(&changed)
		outcome, err := m.Correct(bounded(t), changed)
		failsAs(t, inbox.ErrReusedEventID, outcome, err)
		outcome, err = m.Receive(bounded(t), mail("c1", "delivered"))
		failsAs(t, inbox.ErrReusedEventID, outcome, err)
		require.Equal(t, 1, d.number(t, `SELECT count(*) FROM email_event`), name)
		require.Equal(t, 2, d.number(t, `SELECT count(*) FROM webhook_refusal`), name)
	}
}

// Corrections name events of their own source only.
func TestACorrectionOfAnotherSourceVoidsNothing(t *testing.T) {
	d := newDatabase(t)
	m := d.emails()
	require.NoError(t, m.AddMessage(bounded(t), newsletter))
	receives(t, m, inbox.Advanced, mail("e1", "bounced"))
	foreign := voids("c1", "e1")
	foreign.Source = "mail/eu"
	corrects(t, m, inbox.Held, foreign)
	require.Equal(t, "msg_1 ann@example.org bounced", d.standing(t))
}

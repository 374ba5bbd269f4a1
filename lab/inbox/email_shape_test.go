package inbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

func TestAnEmailEventOfNoShapeIsInvalid(t *testing.T) {
	d := newDatabase(t)
	m := d.emails()
	for reason, change := range map[string]func(*inbox.EmailEvent){
		"source_empty":          func(e *inbox.EmailEvent) { e.Source = "" },
		"source_too_long":       func(e *inbox.EmailEvent) { e.Source = strings.Repeat("s", 256) },
		"event_id_empty":        func(e *inbox.EmailEvent) { e.EventID = "" },
		"event_id_too_long":     func(e *inbox.EmailEvent) { e.EventID = strings.Repeat("é", 513) },
		"message_id_has_nul":    func(e *inbox.EmailEvent) { e.MessageID = "m\x00" },
		"recipient_not_utf8":    func(e *inbox.EmailEvent) { e.Recipient = "\xff" },
		"type_empty":            func(e *inbox.EmailEvent) { e.Type = "" },
		"type_too_long":         func(e *inbox.EmailEvent) { e.Type = strings.Repeat("t", 256) },
		"payload_not_json":      func(e *inbox.EmailEvent) { e.Payload = []byte(`{`) },
		"payload_not_an_object": func(e *inbox.EmailEvent) { e.Payload = []byte(`null`) },
		"payload_has_nul":       func(e *inbox.EmailEvent) { e.Payload = []byte(`{"a":"\u0000"}`) },
		"payload_too_deep":      func(e *inbox.EmailEvent) { e.Payload = []byte(nested(513)) },
		"occurred_at_out_of_range": func(e *inbox.EmailEvent) {
			e.OccurredAt = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
		},
	} {
		e := mail("e1", "delivered")
		change(&e)
		require.ErrorIs(t, e.Validate(), inbox.ErrInvalid)
		outcome, err := m.Receive(bounded(t), e)
		failure := failsAs(t, inbox.ErrInvalid, outcome, err)
		require.Equal(t, reason, failure.Reason)
		require.NoError(t, failure.Unrecorded)
		require.Empty(t, failure.SQLSTATE, "refused before SQL")
		require.Equal(t, 1, d.number(t,
			`SELECT count(*) FROM webhook_refusal WHERE reason = $1`, reason))
	}
	require.NoError(t, mail("e1", "delivered").Validate())
	require.Zero(t, d.number(t, `SELECT count(*) FROM email_event`))
}

func TestACorrectionOfNoShapeIsInvalid(t *testing.T) {
	d := newDatabase(t)
	for reason, change := range map[string]func(*inbox.Correction){
		"source_empty":    func(c *inbox.Correction) { c.Source = "" },
		"event_id_empty":  func(c *inbox.Correction) { c.EventID = "" },
		"voids_empty":     func(c *inbox.Correction) { c.Voids = "" },
		"voids_itself":    func(c *inbox.Correction) { c.Voids = c.EventID },
		"reason_empty":    func(c *inbox.Correction) { c.Reason = "" },
		"author_too_long": func(c *inbox.Correction) { c.Author = strings.Repeat("a", 1025) },
		"author_has_nul":  func(c *inbox.Correction) { c.Author = "\x00" },
	} {
		c := voids("c1", "e1")
		change(&c)
		outcome, err := d.emails().Correct(bounded(t), c)
		require.Equal(t, reason, failsAs(t, inbox.ErrInvalid, outcome, err).Reason)
	}
	require.Zero(t, d.number(t, `SELECT count(*) FROM email_event`))
}

// Whatever text passes the checks is stored as it came.
func TestOddTextOfMailIsStoredUnaltered(t *testing.T) {
	d := newDatabase(t)
	e := mail("e\n1 \x1b[31m😀", "opened")
	e.MessageID, e.Recipient = strings.Repeat("m", 1024), `"Ann, O'Hara" <ann+x@example.org>`
	e.Source = strings.Repeat("s", 255)
	receives(t, d.emails(), inbox.Held, e)
	receives(t, d.emails(), inbox.Duplicate, e)
	require.Equal(t, 1, d.number(t, `SELECT count(*) FROM email_event
		WHERE event_id = $1 AND recipient = $2`, e.EventID, e.Recipient))
}

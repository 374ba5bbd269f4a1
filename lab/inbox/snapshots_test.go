package inbox_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

func TestAnEventIsAcceptedOnce(t *testing.T) {
	d := newDatabase(t)
	paid := event("evt_1", "order_1", 1, `{"status": "paid"}`)
	accepts(t, d.receiver, inbox.Applied, paid)
	accepts(t, d.receiver, inbox.Duplicate, paid)
	require.Equal(t, `1 {"status": "paid"}`, d.state(t, "shop", "order_1"))
	require.Equal(t, 1, d.number(t, `SELECT count(*) FROM webhook_inbox`))
	require.Zero(t, d.number(t, `SELECT count(*) FROM webhook_refusal`))
}

func TestAnOlderRevisionIsKeptButNotShown(t *testing.T) {
	d := newDatabase(t)
	accepts(t, d.receiver, inbox.Applied, event("evt_3", "order_1", 3, `{"v": 3}`))
	accepts(t, d.receiver, inbox.Stale, event("evt_1", "order_1", 1, `{"v": 1}`))
	accepts(t, d.receiver, inbox.Duplicate, event("evt_1", "order_1", 1, `{"v": 1}`))
	accepts(t, d.receiver, inbox.Applied, event("evt_9", "order_1", 9, `{"v": 9}`))
	require.Equal(t, `9 {"v": 9}`, d.state(t, "shop", "order_1"))
	require.Equal(t, 3, d.number(t, `SELECT count(*) FROM webhook_inbox`))
}

func TestABackfilledRevisionStaysUnchanged(t *testing.T) {
	d := newDatabase(t)
	d.exec(t, `INSERT INTO object_state VALUES ('shop', 'order_1', 3, '{"from": "backfill"}')`)
	accepts(t, d.receiver, inbox.Stale, event("evt_3", "order_1", 3, `{"from": "event"}`))
	require.Equal(t, `3 {"from": "backfill"}`, d.state(t, "shop", "order_1"))
}

func TestAnEventIDIsNeverReused(t *testing.T) {
	for name, changed := range map[string]inbox.SnapshotEvent{
		"object":             event("evt_1", "order_2", 1, `{"value": true}`),
		"revision":           event("evt_1", "order_1", 2, `{"value": true}`),
		"snapshot":           event("evt_1", "order_1", 1, `{"value": false}`),
		"true is not 1":      event("evt_1", "order_1", 1, `{"value": 1}`),
		"true is not a text": event("evt_1", "order_1", 1, `{"value": "true"}`),
		"another key":        event("evt_1", "order_1", 1, `{"value": true, "x": null}`),
	} {
		t.Run(name, func(t *testing.T) {
			d := newDatabase(t)
			accepts(t, d.receiver, inbox.Applied, event("evt_1", "order_1", 1, `{"value": true}`))
			failure := refuses(t, d.receiver, inbox.ErrReusedEventID, changed)
			require.Equal(t, "webhook_inbox_event_once", failure.Constraint)
			d.holdsOnly(t, 1, `1 {"value": true}`)
			require.Equal(t, "none", d.state(t, "shop", "order_2"))
		})
	}
}

func TestARevisionIsNeverReused(t *testing.T) {
	for name, second := range map[string]inbox.SnapshotEvent{
		"other content": event("evt_2", "order_1", 1, `{"v": 2}`),
		"same content":  event("evt_2", "order_1", 1, `{"v": 1}`),
	} {
		t.Run(name, func(t *testing.T) {
			d := newDatabase(t)
			accepts(t, d.receiver, inbox.Applied, event("evt_1", "order_1", 1, `{"v": 1}`))
			failure := refuses(t, d.receiver, inbox.ErrReusedRevision, second)
			require.Equal(t, "webhook_inbox_revision_once", failure.Constraint)
			d.holdsOnly(t, 1, `1 {"v": 1}`)
		})
	}
}

// holdsOnly requires so many accepted events, order_1 in this state, and one refusal row.
func (d *database) holdsOnly(t *testing.T, events int, state string) {
	t.Helper()
	require.Equal(t, events, d.number(t, `SELECT count(*) FROM webhook_inbox`))
	require.Equal(t, state, d.state(t, "shop", "order_1"))
	require.Equal(t, 1, d.number(t, `SELECT count(*) FROM webhook_refusal`))
}

func TestSourcesStayApart(t *testing.T) {
	d := newDatabase(t)
	for i, source := range []string{"shop", "shop/eu", "Shop"} {
		e := event("evt_1", "order_1", 1, fmt.Sprintf(`{"v": %d}`, i))
		e.Source = source
		accepts(t, d.receiver, inbox.Applied, e)
		require.Equal(t, fmt.Sprintf(`1 {"v": %d}`, i), d.state(t, source, "order_1"))
	}
}

// Two documents are the same event when jsonb says so, and else the event id was reused.
func TestSnapshotsAreComparedAsJSON(t *testing.T) {
	for _, c := range []struct {
		first, second string
		same          bool
	}{
		{`{"v": 1}`, `{"v":1.0}`, true},
		{`{"v": 100}`, `{"v": 1e2}`, true},
		{`{"v": 1}`, `{"v": 10E-1}`, true},
		{`{"v": 0}`, `{"v": -0}`, true},
		{`{"a": 1, "b": 2}`, ` {"b":2 ,	"a":1}` + "\r\n", true},
		{`{"v": "é"}`, `{"v": "\u00e9"}`, true},
		{`{"v": "😀"}`, `{"v": "\ud83d\ude00"}`, true},
		{`{"v": "/"}`, `{"v": "\/"}`, true},
		{`{"v": 2}`, `{"v": 1, "v": 2}`, true},
		{`{"v": "é"}`, `{"v": "e\u0301"}`, false},
		{`{"v": 9007199254740993}`, `{"v": 9007199254740992}`, false},
		{`{"v": 0.1}`, `{"v": 0.1000000000000000000000001}`, false},
		{`{"v": [1, 2]}`, `{"v": [2, 1]}`, false},
		{`{"v": null}`, `{}`, false},
		{`{"v": "1"}`, `{"v": 1}`, false},
		{`{"v": true}`, `{"v": 1}`, false},
	} {
		t.Run(c.first+c.second, func(t *testing.T) {
			d := newDatabase(t)
			accepts(t, d.receiver, inbox.Applied, event("evt_1", "order_1", 1, c.first))
			if c.same {
				accepts(t, d.receiver, inbox.Duplicate, event("evt_1", "order_1", 1, c.second))
				return
			}
			refuses(t, d.receiver, inbox.ErrReusedEventID, event("evt_1", "order_1", 1, c.second))
		})
	}
}

func TestTheAppendOnlyInboxRefusesChanges(t *testing.T) {
	d := newDatabase(t)
	accepts(t, d.receiver, inbox.Applied, event("evt_1", "order_1", 1, `{}`))
	for _, sql := range []string{
		`UPDATE webhook_inbox SET revision = 2`,
		`UPDATE webhook_inbox SET revision = 2 WHERE false`,
		`DELETE FROM webhook_inbox`,
		`TRUNCATE webhook_inbox`,
		`INSERT INTO webhook_inbox SELECT * FROM webhook_inbox
		 ON CONFLICT (source, event_id) DO UPDATE SET revision = 2`,
	} {
		_, err := d.pool.Exec(bounded(t), sql)
		require.Equal(t, "23001", serverError(err).Code, sql)
	}
	require.Equal(t, 1, d.number(t, `SELECT revision FROM webhook_inbox`))
}

func TestTheSchemaAloneRefusesWhatTheReceiverWould(t *testing.T) {
	d := newDatabase(t)
	for constraint, row := range map[string]string{
		"webhook_inbox_source_bounded":     `('', 'e', 'o', 1, '{}')`,
		"webhook_inbox_event_id_bounded":   `('s', repeat('é', 513), 'o', 1, '{}')`,
		"webhook_inbox_object_id_bounded":  `('s', 'e', '', 1, '{}')`,
		"webhook_inbox_revision_positive":  `('s', 'e', 'o', 0, '{}')`,
		"webhook_inbox_snapshot_is_object": `('s', 'e', 'o', 1, '[]')`,
	} {
		_, err := d.pool.Exec(bounded(t), `INSERT INTO webhook_inbox VALUES `+row)
		require.Equal(t, constraint, serverError(err).ConstraintName)
	}
	for constraint, row := range map[string]string{
		"object_state_source_bounded":     `(repeat('s', 256), 'o', 1, '{}')`,
		"object_state_object_id_bounded":  `('s', repeat('o', 1025), 1, '{}')`,
		"object_state_revision_positive":  `('s', 'o', -1, '{}')`,
		"object_state_snapshot_is_object": `('s', 'o', 1, 'null')`,
	} {
		_, err := d.pool.Exec(bounded(t), `INSERT INTO object_state VALUES `+row)
		require.Equal(t, constraint, serverError(err).ConstraintName)
	}
}

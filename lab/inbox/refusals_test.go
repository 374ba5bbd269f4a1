package inbox_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

func TestAnInsistingSenderAddsNoRefusalRows(t *testing.T) {
	d := newDatabase(t)
	accepts(t, d.receiver, inbox.Applied, event("evt_1", "order_1", 1, `{}`))
	for range 3 {
		refuses(t, d.receiver, inbox.ErrReusedRevision, event("evt_2", "order_1", 1, `{}`))
	}
	require.Equal(t, 1, d.number(t, `SELECT count(*) FROM webhook_refusal
		WHERE source = 'shop' AND event_id = 'evt_2' AND reason = 'reused_revision'
		AND constraint_name = 'webhook_inbox_revision_once'
		AND deliveries = 3 AND first_seen < last_seen`))

	refuses(t, d.receiver, inbox.ErrReusedRevision, event("evt_2", "order_1", 1, `{"v": 1}`))
	require.Equal(t, 2, d.number(t, `SELECT count(*) FROM webhook_refusal`))
}

func TestARefusedBodyIsKnownByItsDigest(t *testing.T) {
	d := newDatabase(t)
	for _, body := range []string{`{"event_id": "evt_1"}`, `{"event_id": "evt_1" }`, `{`, ``} {
		outcome, err := d.receiver.ReceiveBody(bounded(t), "shop", []byte(body))
		failsAs(t, inbox.ErrInvalid, outcome, err)
		require.Equal(t, 1, d.number(t, `SELECT count(*) FROM webhook_refusal
			WHERE digest = sha256(convert_to($1, 'UTF8'))`, body))
	}
	require.Equal(t, 2, d.number(t,
		`SELECT count(*) FROM webhook_refusal WHERE event_id = 'evt_1'`))
	require.Equal(t, 2, d.number(t, `SELECT count(*) FROM webhook_refusal WHERE event_id = ''`))
}

// An id that no text column can hold is still shown to whoever looks into the refusal.
func TestAnImpossibleIDIsRecordedInAPrintableForm(t *testing.T) {
	d := newDatabase(t)
	for id, recorded := range map[string]string{
		"a\x00b":                     `a\x00b`,
		"a\xff\xfe":                  `a\xff\xfe`,
		"é\x00\n":                    "é\\x00\n",
		strings.Repeat("é", 513):     strings.Repeat("é", 510) + "…",
		strings.Repeat("\x00", 1024): strings.Repeat(`\x00`, 255) + "…",
	} {
		refuses(t, d.receiver, inbox.ErrInvalid, event(id, "order_1", 1, `{}`))
		require.Equal(t, 1, d.number(t,
			`SELECT count(*) FROM webhook_refusal WHERE event_id = $1`, recorded), recorded)
	}
	_, err := d.receiver.ReceiveBody(bounded(t), "shop\x00",
		[]byte(body(`"e\u0000"`, `"o"`, `1`, `{}`)))
	require.ErrorIs(t, err, inbox.ErrInvalid)
	require.Equal(t, 1, d.number(t, `SELECT count(*) FROM webhook_refusal
		WHERE source = 'shop\x00' AND event_id = 'e\u0000'`))
}

func TestARefusalStandsWithoutItsRow(t *testing.T) {
	d := newDatabase(t)
	d.exec(t, `DROP TABLE webhook_refusal CASCADE`)
	failure := refuses(t, d.receiver, inbox.ErrInvalid, event("", "order_1", 1, `{}`))
	require.Equal(t, "event_id_empty", failure.Reason)
	require.ErrorIs(t, failure.Unrecorded, inbox.ErrUnavailable)
	require.ErrorContains(t, failure, "no refusal row was written")
}

// What the checks let pass, but this database doesn't, is invalid all the same.
func TestTheServersOwnRefusalIsRecorded(t *testing.T) {
	d := newDatabase(t)
	d.exec(t, `ALTER TABLE webhook_inbox
		ADD CONSTRAINT small_orders_only CHECK ((snapshot ->> 'total')::numeric < 100)`)
	failure := refuses(t, d.receiver, inbox.ErrInvalid,
		event("evt_1", "order_1", 1, `{"total": 100}`))
	require.Equal(t, "23514", failure.SQLSTATE)
	require.Equal(t, 1, d.number(t, `SELECT count(*) FROM webhook_refusal
		WHERE reason = 'refused_by_check' AND constraint_name = 'small_orders_only'`))

	failure = refuses(t, d.receiver, inbox.ErrInvalid,
		event("evt_1", "order_1", 1, `{"total": "many"}`))
	require.Equal(t, "22P02", failure.SQLSTATE)
	require.Equal(t, 2, d.number(t, `SELECT count(*) FROM webhook_refusal`))
	require.NotContains(t, failure.Error(), "many")
}

package inbox_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

// Every way to be out of shape is refused before SQL, leaves one refusal row and nothing else.
func TestAnInvalidEventLeavesOnlyItsRefusal(t *testing.T) {
	d := newDatabase(t)
	long := strings.Repeat
	for reason, spoil := range map[string]func(*inbox.SnapshotEvent){
		"source_empty":                 source(""),
		"source_too_long":              source(long("s", 256)),
		"source_has_nul":               source("s\x00"),
		"source_not_utf8":              source("s\xff"),
		"event_id_empty":               eventID(""),
		"event_id_too_long":            eventID(long("é", 513)),
		"event_id_has_nul":             eventID("\x00"),
		"event_id_not_utf8":            eventID("\xed\xa0\x80"),
		"object_id_empty":              objectID(""),
		"object_id_too_long":           objectID(long("o", 1025)),
		"object_id_has_nul":            objectID("o\x00o"),
		"object_id_not_utf8":           objectID("\xc0\x80"),
		"revision_not_positive":        revision(0),
		"snapshot_empty":               snapshot(""),
		"snapshot_not_json":            snapshot(`{"v": 1} {}`),
		"snapshot_not_an_object":       snapshot(` [1]`),
		"snapshot_not_utf8":            snapshot("{\"v\": \"\xff\"}"),
		"snapshot_too_deep":            snapshot(nested(513)),
		"snapshot_too_large":           snapshot(`{"v": "` + long("x", 1<<20) + `"}`),
		"snapshot_has_nul":             snapshot(`{"v": "\u0000"}`),
		"snapshot_has_lone_surrogate":  snapshot(`{"\ud800": 1}`),
		"snapshot_number_out_of_range": snapshot(`{"v": 1e131072}`),
		"snapshot_numbers_too_long":    snapshot(`{"v": [1` + long(`,1e131071`, 33) + `]}`),
	} {
		t.Run(reason, func(t *testing.T) {
			e := event("evt_"+reason, "order_1", 1, `{"v": 1}`)
			spoil(&e)
			failure := refuses(t, d.receiver, inbox.ErrInvalid, e)
			require.Equal(t, reason, failure.Reason)
			require.NoError(t, failure.Unrecorded)
			require.Equal(t, 1, d.number(t,
				`SELECT deliveries FROM webhook_refusal WHERE reason = $1`, reason))
		})
	}
	require.Zero(t, d.number(t, `SELECT count(*) FROM webhook_inbox`))
	require.Zero(t, d.number(t, `SELECT count(*) FROM object_state`))
}

func source(s string) func(*inbox.SnapshotEvent) {
	return func(e *inbox.SnapshotEvent) { e.Source = s }
}

func eventID(s string) func(*inbox.SnapshotEvent) {
	return func(e *inbox.SnapshotEvent) { e.EventID = s }
}

func objectID(s string) func(*inbox.SnapshotEvent) {
	return func(e *inbox.SnapshotEvent) { e.ObjectID = s }
}

func revision(n int64) func(*inbox.SnapshotEvent) {
	return func(e *inbox.SnapshotEvent) { e.Revision = n }
}

func snapshot(document string) func(*inbox.SnapshotEvent) {
	return func(e *inbox.SnapshotEvent) { e.Snapshot = []byte(document) }
}

// nested is a document of that many levels.
func nested(depth int) string {
	return strings.Repeat(`{"v":`, depth-1) + `{}` + strings.Repeat(`}`, depth-1)
}

func TestOtherDocumentsThatJSONDoesNotKnow(t *testing.T) {
	d := newDatabase(t)
	for _, document := range []string{
		"\ufeff{}", "{} x", "{}\x00", "{}{}", "{'v': 1}", `{"v": 01}`, `{"v": .5}`, `{"v": +1}`,
		`{"v": NaN}`, `{"v": 1.}`, `{"v": 1e}`, `{"v": "\x"}`, `{"v": "\u12"}`, "{\"v\": \"\n\"}",
		`{"v": tru}`, `{"v"}`, `{"v": 1,}`, `{`, `"`, `{"v": "`, `{"v": "\`, `{"v": "\u`, `\`, ` `,
	} {
		failure := refuses(t, d.receiver, inbox.ErrInvalid, event("evt_1", "order_1", 1, document))
		require.Equal(t, "snapshot_not_json", failure.Reason, document)
	}
}

// The largest of everything passes, and the server takes it.
func TestTheLimitsThemselvesAreAccepted(t *testing.T) {
	d := newDatabase(t)
	for i, document := range []string{
		nested(512),
		`{"v": "` + strings.Repeat("x", inbox.MaxSnapshotBytes-len(`{"v": ""}`)) + `"}`,
		`{"` + strings.Repeat("k", inbox.MaxSnapshotBytes-len(`{"": 1}`)) + `": 1}`,
		`{"v": [` + strings.Repeat(`0,`, 500_000) + `0]}`,
		`{"v": 1e131071, "w": -1e-16383, "x": 0e-16383}`,
		`{"v": 0.` + strings.Repeat("0", 200_000) + `1e200000}`,
		`{"v": "\\u0000", "\\ud800": "\ud83d\ude00\udbff\udfff\uffff"}`,
	} {
		e := event(strings.Repeat("é", 512-i)+strings.Repeat("a", 2*i), "", int64(i+1), document)
		e.Source = strings.Repeat("s", 255)
		e.ObjectID = strings.Repeat("o", 1024)
		accepts(t, d.receiver, inbox.Applied, e)
		require.True(t, d.isStored(t, e), "stored as it was sent")
	}
	e := event("evt_last", "order_1", 9223372036854775807, `{}`)
	accepts(t, d.receiver, inbox.Applied, e)
	accepts(t, d.receiver, inbox.Duplicate, e)
}

// isStored compares an event with its inbox row, and reads the row's snapshot as text.
func (d *database) isStored(t testing.TB, e inbox.SnapshotEvent) bool {
	t.Helper()
	var same bool
	var text string
	require.NoError(t, d.pool.QueryRow(bounded(t), `
		SELECT object_id = $3 AND revision = $4 AND snapshot = $5::jsonb, snapshot::text
		FROM webhook_inbox
		WHERE source = $1 AND event_id = $2`,
		e.Source, e.EventID, e.ObjectID, e.Revision, string(e.Snapshot)).Scan(&same, &text))
	return same
}

// Text that only looks dangerous is an id like any other.
func TestOddTextIsStoredUnaltered(t *testing.T) {
	d := newDatabase(t)
	for _, id := range []string{
		"'; DROP TABLE webhook_inbox; --", "a\nb\r\t", "\x1b[31m", "$1", "%s", `\x00`, " ", "😀",
		"e\u0301", "\ufeff", "\uffff", "\u202e",
	} {
		accepts(t, d.receiver, inbox.Applied, event(id, id, 1, `{}`))
		require.Equal(t, 1, d.number(t, `
			SELECT count(*) FROM webhook_inbox WHERE event_id = $1 AND object_id = $1`, id))
	}
}

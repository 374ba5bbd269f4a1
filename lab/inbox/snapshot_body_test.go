package inbox_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

func TestABodyIsReadWithoutLoss(t *testing.T) {
	e, err := inbox.ParseSnapshotEvent("shop", []byte(` {
		"source": "other", "unknown": {"revision": 7}, "Revision": 8,
		"event\u005fid": "evt_\u00e9", "object_id": "\ud83d\ude00",
		"revision": 9007199254740993, "snapshot": {"v": 1.0, "w": 9007199254740993}
	} `))
	require.NoError(t, err)
	require.Equal(t, inbox.SnapshotEvent{
		Source: "shop", EventID: "evt_é", ObjectID: "😀", Revision: 9007199254740993,
		Snapshot: []byte(`{"v": 1.0, "w": 9007199254740993}`),
	}, e)
}

// No body gets past its envelope: each of these is refused for the reason on its right.
func TestABodyThatIsNoEventIsInvalid(t *testing.T) {
	requireInvalid(t, [][2]string{
		{``, "body_not_json"},
		{` `, "body_not_json"},
		{`{} {}`, "body_not_json"},
		{"\ufeff{}", "body_not_json"},
		{"{}\x00", "body_not_json"},
		{"{\"a\": \"\xff\"}", "body_not_utf8"},
		{`[]`, "body_not_an_object"},
		{`null`, "body_not_an_object"},
		{strings.Repeat("[", 514) + strings.Repeat("]", 514), "body_too_deep"},
		{strings.Repeat("[", 20_000), "body_too_deep"},
		{strings.Repeat(" ", inbox.MaxBodyBytes) + `{}`, "body_too_large"},
		{`{"object_id": "o", "revision": 1, "snapshot": {}}`, "event_id_missing"},
		{`{"Event_id": "e", "object_id": "o"}`, "event_id_missing"},
		{`{"event_id": "e", "revision": 1, "snapshot": {}}`, "object_id_missing"},
		{`{"event_id": "e", "object_id": "o", "snapshot": {}}`, "revision_missing"},
		{`{"event_id": "e", "object_id": "o", "revision": 1}`, "snapshot_missing"},
	})
}

func TestABodyWithABadFieldIsInvalid(t *testing.T) {
	requireInvalid(t, [][2]string{
		{body(`null`, `"o"`, `1`, `{}`), "event_id_not_a_string"},
		{body(`1`, `"o"`, `1`, `{}`), "event_id_not_a_string"},
		{body(`""`, `"o"`, `1`, `{}`), "event_id_empty"},
		{body(`"e\u0000"`, `"o"`, `1`, `{}`), "event_id_has_nul"},
		{body(`"e\ud800"`, `"o"`, `1`, `{}`), "event_id_has_lone_surrogate"},
		{body(`"e\udc00\ud800"`, `"o"`, `1`, `{}`), "event_id_has_lone_surrogate"},
		{body(`"e\udc00\udc00"`, `"o"`, `1`, `{}`), "event_id_has_lone_surrogate"},
		{body(`"e", "event_id": "f"`, `"o"`, `1`, `{}`), "event_id_repeated"},
		{body(`"e"`, `{}`, `1`, `{}`), "object_id_not_a_string"},
		{body(`"e"`, `"o"`, `"1"`, `{}`), "revision_not_an_integer"},
		{body(`"e"`, `"o"`, `1.0`, `{}`), "revision_not_an_integer"},
		{body(`"e"`, `"o"`, `1e0`, `{}`), "revision_not_an_integer"},
		{body(`"e"`, `"o"`, `true`, `{}`), "revision_not_an_integer"},
		{body(`"e"`, `"o"`, `null`, `{}`), "revision_not_an_integer"},
		{body(`"e"`, `"o"`, `0`, `{}`), "revision_not_positive"},
		{body(`"e"`, `"o"`, `-0`, `{}`), "revision_not_positive"},
		{body(`"e"`, `"o"`, `-1`, `{}`), "revision_not_positive"},
		{body(`"e"`, `"o"`, `9223372036854775808`, `{}`), "revision_out_of_range"},
		{body(`"e"`, `"o"`, `1, "revision": 1`, `{}`), "revision_repeated"},
		{body(`"e"`, `"o"`, `1`, `null`), "snapshot_not_an_object"},
		{body(`"e"`, `"o"`, `1`, `"{}"`), "snapshot_not_an_object"},
		{body(`"e"`, `"o"`, `1`, `{"v": 1e131072}`), "snapshot_number_out_of_range"},
		{body(`"e"`, `"o"`, `1`, `{"v": 1e-99999999}`), "snapshot_number_out_of_range"},
		{body(`"e"`, `"o"`, `1`, `{"v": 1e99999999999}`), "snapshot_number_out_of_range"},
	})
}

// requireInvalid takes pairs of a body and the reason to refuse it.
func requireInvalid(t *testing.T, cases [][2]string) {
	t.Helper()
	for _, c := range cases {
		e, err := inbox.ParseSnapshotEvent("shop", []byte(c[0]))
		require.Zero(t, e)
		require.Equal(t, c[1], failsAs(t, inbox.ErrInvalid, "", err).Reason, "%.80s", c[0])
	}
}

func body(eventID, objectID, revision, snapshot string) string {
	return `{"event_id": ` + eventID + `, "object_id": ` + objectID +
		`, "revision": ` + revision + `, "snapshot": ` + snapshot + `}`
}

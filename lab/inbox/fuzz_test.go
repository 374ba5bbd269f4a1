package inbox_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

// Any bytes give an event without loss or are invalid.
func FuzzParseSnapshotEvent(f *testing.F) {
	f.Add([]byte(body(`"e"`, `"o"`, `9007199254740993`, `{"v": [1, "\ud83d\ude00", null]}`)))
	f.Add([]byte(body(`"e"`, `"o"`, `1`, `{"v": 1e131072}`)))
	f.Add([]byte(body(`"\ud800"`, `"\u0000"`, `-1`, `[`)))
	f.Add([]byte("\xff\xfe{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := inbox.ParseSnapshotEvent("shop", data)
		if err != nil {
			require.ErrorIs(t, err, inbox.ErrInvalid)
			require.Zero(t, e)
			return
		}
		again, err := json.Marshal(map[string]any{
			"event_id": e.EventID, "object_id": e.ObjectID, "revision": e.Revision,
			"snapshot": e.Snapshot,
		})
		require.NoError(t, err)
		second, err := inbox.ParseSnapshotEvent("shop", again)
		require.NoError(t, err)
		var compact, compactAgain bytes.Buffer
		require.NoError(t, json.Compact(&compact, e.Snapshot))
		require.NoError(t, json.Compact(&compactAgain, second.Snapshot))
		e.Snapshot, second.Snapshot = nil, nil
		require.Equal(t, e, second)
	})
}

// What the checks let pass is stored and can be read; all else leaves its refusal and no more.
func FuzzSnapshotAcceptedIsStored(f *testing.F) {
	for _, snapshot := range []string{
		`{}`, `{"v": 1e131071}`, `{"v": 1e-16384}`, `{"\u0000": 1}`, `{"v": "\ud83d\ude00"}`,
		`{"v": "\ud83d"}`, ` {"a": {"b": [[], {}, 0.10, -0e5, true]}, "a": null}`, `[]`, `{"v": }`,
		"{\"v\": \"\x7f\u2028\"}", nested(513),
	} {
		f.Add("evt", "order", int64(1), []byte(snapshot))
	}
	f.Add("\x00", "o\xff", int64(0), []byte("\x00"))
	d := newDatabase(f)
	var runs atomic.Int64
	f.Fuzz(func(t *testing.T, eventID, objectID string, revision int64, snapshot []byte) {
		e := inbox.SnapshotEvent{
			Source:  fmt.Sprint("run ", runs.Add(1)), // nothing was ever sent before
			EventID: eventID, ObjectID: objectID, Revision: revision, Snapshot: snapshot,
		}
		outcome, err := d.receiver.Receive(bounded(t), e)
		if err == nil {
			require.Equal(t, inbox.Applied, outcome)
			require.True(t, d.isStored(t, e))
			accepts(t, d.receiver, inbox.Duplicate, e)
			return
		}
		failure := failsAs(t, inbox.ErrInvalid, outcome, err)
		require.NoError(t, failure.Unrecorded)
		require.Empty(t, failure.SQLSTATE, "refused before SQL")
		require.Zero(t, d.number(t,
			`SELECT count(*) FROM webhook_inbox WHERE source = $1`, e.Source))
		require.Equal(t, 1, d.number(t,
			`SELECT count(*) FROM webhook_refusal WHERE source = $1`, e.Source))
	})
}

// The same through a body, whatever its bytes.
func FuzzAnyBodyEndsInAnAnswer(f *testing.F) {
	f.Add([]byte(body(`"e"`, `"o"`, `1`, `{"v": 1}`)))
	f.Add([]byte(body(`"e\u0000"`, `"o\ud800"`, `1e0`, `{"v": "\ud800"}`)))
	d := newDatabase(f)
	var runs atomic.Int64
	f.Fuzz(func(t *testing.T, data []byte) {
		source := fmt.Sprint("run ", runs.Add(1))
		_, err := d.receiver.ReceiveBody(bounded(t), source, data)
		require.True(t, err == nil || errors.Is(err, inbox.ErrInvalid), "%v", err)
		require.Equal(t, 1, d.number(t, `
			SELECT (SELECT count(*) FROM webhook_inbox WHERE source = $1)
				+ (SELECT count(*) FROM webhook_refusal WHERE source = $1)`, source))
	})
}

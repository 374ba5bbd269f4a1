package webhook_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
	"webhooklab/lab/webhook"
)

// hostileBody is what a sender can sign and a careless receiver stumbles over.
type hostileBody struct{ name, body, says string }

func event(id, snapshot string) string { return eventAt(id, "1", snapshot) }

func eventAt(id, revision, snapshot string) string {
	return fmt.Sprintf(`{"event_id": %s, "object_id": "o", "revision": %s, "snapshot": %s}`,
		id, revision, snapshot)
}

func hostileBodies() []hostileBody {
	return append(hostileEnvelopes(), append(hostileFields(), harmlessBodies()...)...)
}

func hostileEnvelopes() []hostileBody {
	return []hostileBody{
		{"empty body", "", "body_empty"},
		{"only blanks", " \n", "body_not_json"},
		{"a NUL byte", "\x00", "body_not_json"},
		{"byte order mark", "\ufeff{}", "body_not_json"},
		{"bytes that are no text", "{\"event_id\": \"\xff\"}", "body_not_utf8"},
		{"UTF-16", "{\x00}\x00", "body_not_json"},
		{"an array", `[1]`, "body_not_an_object"},
		{"a number", `1`, "body_not_an_object"},
		{"null", `null`, "body_not_an_object"},
		{"half an object", `{"event_id": "e"`, "body_not_json"},
		{"two objects", `{}{}`, "body_not_json"},
		{"depth 20,000", nested(20_000), "body_not_json"},
		{"depth of the snapshot", event(`"e"`, nested(513)), "snapshot_too_deep"},
	}
}

func hostileFields() []hostileBody {
	return []hostileBody{
		{"no id", `{"object_id": "o"}`, "event_id_missing"},
		{"empty id", event(`""`, `{}`), "event_id_missing"},
		{"id is null", event(`null`, `{}`), "event_id_not_a_string"},
		{"id is a number", event(`9007199254740993`, `{}`), "event_id_not_a_string"},
		{"id in an array", event(`["e"]`, `{}`), "event_id_not_a_string"},
		{"id spelled otherwise", `{"Event_ID": "e"}`, "event_id_missing"},
		{"id twice", event(`"e", "event_id": "f"`, `{}`), "event_id_repeated"},
		{"id twice, once escaped", event(`"e", "event\u005fid": "f"`, `{}`), "event_id_repeated"},
		{"id with NUL", event(`"e\u0000"`, `{}`), "event_id_has_nul"},
		{"id with half a pair", event(`"e\ud800"`, `{}`), "event_id_has_lone_surrogate"},
		{"id with a turned pair", event(`"\udc00\ud800"`, `{}`), "event_id_has_lone_surrogate"},
		{"id of 10 kB", event(`"`+strings.Repeat("e", 10_000)+`"`, `{}`), "event_id_too_long"},
		{"revision as text", eventAt(`"e"`, `"1"`, `{}`), "revision_not_an_integer"},
		{"revision as a fraction", eventAt(`"e"`, `1.0`, `{}`), "revision_not_an_integer"},
		{"revision with an exponent", eventAt(`"e"`, `1e0`, `{}`), "revision_not_an_integer"},
		{"revision is too large", eventAt(`"e"`, `9223372036854775808`, `{}`),
			"revision_out_of_range"},
		{"revision below zero", eventAt(`"e"`, `-1`, `{}`), "revision_not_positive"},
		{"snapshot missing", `{"event_id": "e", "object_id": "o", "revision": 1}`,
			"snapshot_missing"},
		{"snapshot is an array", event(`"e"`, `[]`), "snapshot_not_an_object"},
		{"snapshot with NUL", event(`"e"`, `{"v": "\u0000"}`), "snapshot_has_nul"},
		{"snapshot with half a pair", event(`"e"`, `{"v": "\ud83d"}`),
			"snapshot_has_lone_surrogate"},
		{"number beyond numeric", event(`"e"`, `{"v": 1e131072}`),
			"snapshot_number_out_of_range"},
	}
}

func harmlessBodies() []hostileBody {
	return []hostileBody{
		{"2^53 + 1", event(`"large"`, `{"v": 9007199254740993}`), "applied"},
		{"duplicate keys", event(`"twice"`, `{"v": 1, "v": 2}`), "applied"},
		{"labels like mail", event(`"x@example.org <b>"`, `{"to": "x@example.org"}`), "applied"},
		{"lines and escapes", event(`"a\nb\r\u001b[31mc\u202ed"`, `{"v": "\u001b]0;x\u0007\n"}`),
			"applied"},
		{"emoji", event(`"🎉👩‍👩‍👧"`, `{"v": "👩‍👩‍👧 \ud83d\ude00"}`), "applied"},
		{"SQL in words", event(`"'; DROP TABLE webhook_inbox; --"`, `{"v": "$1 %s"}`), "applied"},
		{"id of 1,024 bytes", event(`"`+strings.Repeat("é", 512)+`"`, `{}`), "applied"},
		{"unassigned characters", event(`"\uffff\ufffe"`, `{}`), "applied"},
	}
}

func nested(depth int) string {
	return strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth)
}

// newHostileDoor has an address and a source for each body.
func newHostileDoor(t testing.TB) *door {
	return newDoor(t, func(d *door, b *building) {
		if d == nil {
			return
		}
		for i, c := range hostileBodies() {
			route := d.route(fmt.Sprint("/", i), webhook.SnapshotBody,
				webhook.Snapshots(d.db, inbox.Options{}))
			route.Source = c.name
			b.routes = append(b.routes, route)
		}
	})
}

// What a sender signed ends in one final answer, however hostile: stored or refused, never "later".
func TestHostileBytesEndInOneAnswer(t *testing.T) {
	d := newHostileDoor(t)
	for i, c := range hostileBodies() {
		t.Run(c.name, func(t *testing.T) {
			path := fmt.Sprint("/", i)
			first, again := d.send(t, path, c.body), d.send(t, path, c.body)
			require.Equal(t, c.says, first.Outcome+first.Code, first.Text)
			stored := d.number(t, `SELECT count(*) FROM webhook_inbox WHERE source = $1`, c.name)
			require.Equal(t, 2, d.number(t,
				`SELECT count(*) FROM webhook_delivery WHERE source = $1`, c.name))
			if first.Outcome == "applied" {
				require.Equal(t, "duplicate", again.Outcome)
				require.Equal(t, 1, stored)
				return
			}
			require.Equal(t, http.StatusBadRequest, first.Status)
			require.Equal(t, first.Text, again.Text)
			require.Zero(t, stored)
			require.Equal(t, "2 "+c.says, d.text(t, `
				SELECT deliveries || ' ' || reason
				FROM webhook_refusal
				WHERE source = $1`, c.name))
		})
	}
}

// Odd text is kept as it came, and shown so that no log or terminal is fooled.
func TestOddTextIsStoredUnaltered(t *testing.T) {
	d := newHostileDoor(t)
	for i, c := range hostileBodies() {
		d.send(t, fmt.Sprint("/", i), c.body)
	}
	kept := func(source string) string {
		return d.text(t, `
			SELECT event_id || '|' || (snapshot ->> 'v')
			FROM webhook_inbox
			WHERE source = $1`, source)
	}
	require.Equal(t, "a\nb\r\x1b[31mc\u202ed|\x1b]0;x\a\n", kept("lines and escapes"))
	require.Equal(t, "🎉👩‍👩‍👧|👩‍👩‍👧 😀", kept("emoji"))
	require.Equal(t, "large|9007199254740993", kept("2^53 + 1"))
	require.Equal(t, "'; DROP TABLE webhook_inbox; --|$1 %s", kept("SQL in words"))
	require.Contains(t, d.logs.String(), `event_id=a\u000ab\u000d\u001b[31mc\u202ed`)
	require.NotContains(t, d.logs.String(), "\x1b")
	require.NotContains(t, d.logs.String(), "\u202e")
}

// Ids and types that come in headers are as hostile as those in bodies.
func TestHostileHeadersEndInOneAnswer(t *testing.T) {
	d := newDoor(t, func(d *door, b *building) {
		if d == nil {
			return
		}
		intake := webhook.Intake(d.db, inbox.Options{})
		b.routes = append(b.routes, d.route("/github", webhook.GitHubEvent, intake),
			d.route("/shopify", webhook.ShopifyEvent, intake))
	})
	for i, c := range []struct{ id, kind, says string }{
		{"", "push", "event_id_missing"},
		{strings.Repeat("e", 10_000), "push", "event_id_too_long"},
		{"e\xff", "push", "event_id_not_utf8"},
		{"e1", "", "event_type_missing"},
		{"e1", "\xff", "event_type_not_utf8"},
		{"e1", strings.Repeat("t", 2000), "event_type_too_long"},
		{"'; DROP é", "x@example.org <b>", "accepted"},
	} {
		r := d.send(t, "/github", `{}`, "X-GitHub-Delivery", c.id, "X-GitHub-Event", c.kind)
		require.Equal(t, c.says, r.Outcome+r.Code)
		require.Equal(t, i+1, d.number(t, `SELECT count(*) FROM webhook_delivery`))
	}
	r := d.send(t, "/shopify", `{}`, "X-Shopify-Event-Id", "e2", "X-Shopify-Topic", "t",
		"X-Shopify-Webhook-Id", strings.Repeat("\xff", 2000))
	require.Equal(t, "accepted", r.Outcome, "an attempt's name decides nothing")
}

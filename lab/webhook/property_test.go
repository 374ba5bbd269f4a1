package webhook_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"webhooklab/lab/inbox"
	"webhooklab/lab/webhook"
)

// drawnJSON is any JSON at all, and text that almost is.
func drawnJSON(t *rapid.T) string {
	scalar := rapid.SampledFrom([]string{
		`0`, `-0.0`, `1`, `9007199254740993`, `1e131072`, `1e-16384`, `true`, `null`, `""`, `"e"`,
		`"\u0000"`, `"\ud800"`, `"\ud83d\ude00"`, `"x@example.org"`, `"\n\u001b"`, "\"\xff\"",
		`1.0`, `-1`, `18446744073709551616`, `{`, `]`, `nul`, "\x00", `"a`,
	})
	name := rapid.SampledFrom([]string{
		"event_id", "object_id", "revision", "snapshot", "source", "id", "type", "data", "object",
		"message_id", "recipient", "occurred_at", "", "v",
	})
	var value func(depth int) string
	value = func(depth int) string {
		kind := rapid.SampledFrom([]string{"scalar", "object", "object", "array"}).
			Draw(t, fmt.Sprint("kind at depth ", depth))
		if depth == 0 || kind == "scalar" {
			return scalar.Draw(t, "scalar")
		}
		text, end := "{", "}"
		if kind == "array" {
			text, end = "[", "]"
		}
		for i := range rapid.IntRange(0, 5).Draw(t, "parts") {
			if i > 0 {
				text += ","
			}
			if kind == "object" {
				text += fmt.Sprintf("%q:", name.Draw(t, "name"))
			}
			text += value(depth - 1)
		}
		return text + end
	}
	return value(3)
}

// drawnBody is random bytes, random JSON, or a good body of which a part was replaced.
func drawnBody(t *rapid.T) string {
	id := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "id")
	switch rapid.IntRange(0, 3).Draw(t, "manner") {
	case 0:
		return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
	case 1:
		return drawnJSON(t)
	}
	body := rapid.SampledFrom([]string{
		snapshot(id, "o", rapid.IntRange(1, 3).Draw(t, "revision"), drawnJSON(t)),
		stripeEvent(id, "paid"), email(id, "delivered"),
		array(email(id, "opened"), email(id, "bounced"), drawnJSON(t)),
	}).Draw(t, "body")
	from := rapid.IntRange(0, len(body)).Draw(t, "from")
	to := min(len(body), from+rapid.IntRange(0, 3).Draw(t, "length"))
	return body[:from] + rapid.SampledFrom([]string{"", "", "", "1", `"`, "\x00", "\xed\xa0\x80"}).
		Draw(t, "instead") + body[to:]
}

// While the database is well, nothing that a sender signs is answered by "later": it is stored,
// known or refused, and asking again doesn't change a refusal.
func TestNoBodyIsAnsweredByLater(t *testing.T) {
	paths := []string{"/snapshots", "/atomic", "/leased", "/emails", "/batch"}
	d := newDoor(t, func(d *door, b *building) {
		if d == nil {
			return
		}
		batch := d.route("/batch", webhook.PostscaleEvent, webhook.Emails(d.db, inbox.Options{}))
		batch.Batch = true
		b.routes = append(b.routes, batch,
			d.route("/atomic", webhook.StripeEvent, webhook.Atomic(d.db, obey, inbox.Options{})),
			d.route("/leased", webhook.StripeEvent, webhook.Intake(d.db, inbox.Options{})),
			d.route("/emails", webhook.PostscaleEvent, webhook.Emails(d.db, inbox.Options{})))
	})
	d.exec(t, `CREATE TABLE effect (event_id text)`)
	sent := 0
	rapid.Check(t, func(rt *rapid.T) {
		path := rapid.SampledFrom(paths).Draw(rt, "path")
		body := drawnBody(rt)
		first, again := d.send(t, path, body), d.send(t, path, body)
		for _, r := range []reply{first, again} {
			require.Contains(rt, []int{200, 400, 409}, r.Status, "%s %q: %s", path, body, r.Text)
		}
		require.Equal(rt, first.Status, again.Status, "%s %q", path, body)
		require.Equal(rt, first.Code, again.Code)
		if path != "/batch" {
			sent += 2
		}
	})
	require.LessOrEqual(t, sent, d.number(t, `SELECT count(*) FROM webhook_delivery`))
	require.Equal(t, 1, d.number(t, `SELECT count(DISTINCT source) FROM webhook_delivery`))
}

package webhook_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
	"webhooklab/lab/webhook"
)

// Each outcome and each refusal has its answer, and its row.
func TestAnswersOfSnapshots(t *testing.T) {
	d := newDoor(t)
	for _, step := range []struct {
		name, body string
		status     int
		says       string // an outcome or a code
	}{
		{"new", snapshot("e2", "order", 2, `{"v": 2}`), 200, "applied"},
		{"again, written otherwise", snapshot("e2", "order", 2, `{"v":2.0}`), 200, "duplicate"},
		{"older", snapshot("e1", "order", 1, `{"v": 1}`), 200, "stale"},
		{"same id, other content", snapshot("e2", "order", 2, `{"v": 3}`), 409, "reused_event_id"},
		{"same revision, other id", snapshot("e3", "order", 2, `{"v": 2}`), 409, "reused_revision"},
		{"no revision", `{"event_id": "e4", "object_id": "o", "snapshot": {}}`, 400,
			"revision_not_positive"},
		{"no id", `{"object_id": "o", "revision": 1, "snapshot": {}}`, 400, "event_id_missing"},
		{"no JSON", `{`, 400, "body_not_json"},
	} {
		t.Run(step.name, func(t *testing.T) {
			r := d.send(t, "/snapshots", step.body)
			require.Equal(t, step.status, r.Status, r.Text)
			require.Equal(t, step.says, r.Outcome+r.Code)
			require.False(t, r.Retry)
			want := "application/problem+json"
			if r.Status == http.StatusOK {
				want = "application/json"
			}
			require.Equal(t, want, r.Header.Get("Content-Type"))
		})
	}
	require.Equal(t, 2, d.number(t, `SELECT count(*) FROM webhook_inbox WHERE source = 'shop'`))
	require.Equal(t, 5, d.number(t, `SELECT count(*) FROM webhook_refusal WHERE source = 'shop'`))
	require.Equal(t, "2 new, 1 duplicate, 2 conflict, 3 invalid", d.text(t, `
		SELECT new || ' new, ' || duplicate || ' duplicate, ' || conflict || ' conflict, '
			|| invalid || ' invalid'
		FROM operator_deliveries
		WHERE source = 'shop'`))
}

// A "source" in the body has no effect, and neither has rotating a secret.
func TestSourceIsTheRoutes(t *testing.T) {
	rotated, err := webhook.NewPostscale("new secret", secret)
	require.NoError(t, err)
	d := newDoor(t, func(d *door, b *building) {
		if d == nil {
			return
		}
		after := d.route("/rotated", webhook.SnapshotBody,
			webhook.Snapshots(d.db, inbox.Options{}))
		after.Verifier = rotated
		b.routes = append(b.routes, after)
	})
	body := `{"source": "bank", "event_id": "e", "object_id": "o", "revision": 1, "snapshot": {}}`
	require.Equal(t, "applied", d.send(t, "/snapshots", body).Outcome)
	require.Equal(t, "duplicate", d.send(t, "/rotated", body).Outcome)
	r := d.send(t, "/rotated", body, "X-Postscale-Signature",
		signature("new secret", time.Now(), []byte(body)))
	require.Equal(t, "duplicate", r.Outcome)
	require.Equal(t, "shop", d.text(t, `SELECT source FROM webhook_inbox`))
}

// Whoever can't sign can't take an id from the true sender, and leaves no row.
func TestBadSignatureLeavesNoRow(t *testing.T) {
	d := newDoor(t)
	body := snapshot("evt_real", "order", 1, `{}`)
	for _, bad := range []string{
		"", "t=1,v1=00", signature("guess", time.Now(), []byte(body)),
		signature(secret, time.Now().Add(-6*time.Minute), []byte(body)),
		signature(secret, time.Now(), []byte(body+" ")),
	} {
		r := d.send(t, "/snapshots", body, "X-Postscale-Signature", bad)
		require.Equal(t, http.StatusUnauthorized, r.Status)
		require.Equal(t, "signature", r.Code)
		require.NotEmpty(t, r.Header.Get("WWW-Authenticate"))
	}
	require.Zero(t, d.number(t, `
		SELECT (SELECT count(*) FROM webhook_inbox) + (SELECT count(*) FROM webhook_refusal)
			+ (SELECT count(*) FROM webhook_delivery) + (SELECT count(*) FROM webhook_receipt)`))
	require.NotContains(t, d.logs.String(), "evt_real", "an unproven id is not worth a line")
	require.Equal(t, "applied", d.send(t, "/snapshots", body).Outcome)
	require.Equal(t, 5, strings.Count(d.logs.String(), "a signature was refused"))
}

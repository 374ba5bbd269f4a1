package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
	"webhooklab/lab/postgres"
	"webhooklab/lab/webhook"
)

// canary is a word that is found nowhere else. It stands in everything that a sender writes, but
// the event id.
const canary = "Kanarienvogel7Q"

// overheard collects whatever anybody could read.
type overheard struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *overheard) add(format string, arguments ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	fmt.Fprintf(&o.text, format+"\n", arguments...)
}

// errs adds all that an error and what it wraps can say.
func (o *overheard) errs(err error) {
	if err == nil {
		return
	}
	o.add("%v %+v", err, err)
	var said *pgconn.PgError
	if errors.As(err, &said) {
		o.add("%+v", *said)
	}
	var failure *inbox.Error
	if errors.As(err, &failure) && failure.Unrecorded != nil {
		o.errs(failure.Unrecorded)
	}
}

// overhearing is a receiver whose errors are read.
type overhearing struct {
	webhook.Receiver
	heard *overheard
}

// Receive is [webhook.Receiver]'s.
func (r overhearing) Receive(ctx context.Context, e webhook.Event) (inbox.Outcome, error) {
	outcome, err := r.Receiver.Receive(ctx, e)
	r.heard.errs(err)
	return outcome, err
}

// newCanaryDoor has every receiver, behind every scheme's headers.
func newCanaryDoor(t *testing.T, heard *overheard) *door {
	d := newDoor(t, func(d *door, b *building) {
		b.pool = 10
		b.options.Limits.ReadTimeout = 200 * time.Millisecond
		if d == nil {
			return
		}
		o := inbox.Options{LockTimeout: 100 * time.Millisecond}
		snapshots := webhook.Snapshots(d.db, o)
		for path, route := range map[string]webhook.Route{
			"/snapshots": d.route("", webhook.SnapshotBody, snapshots),
			"/standard":  d.route("", webhook.StandardWebhooksEvent, snapshots),
			"/atomic":    d.route("", webhook.StripeEvent, webhook.Atomic(d.db, obey, o)),
			"/github":    d.route("", webhook.GitHubEvent, webhook.Intake(d.db, o)),
			"/shopify":   d.route("", webhook.ShopifyEvent, webhook.Intake(d.db, o)),
			"/slack":     d.route("", webhook.SlackEvent, webhook.Intake(d.db, o)),
			"/emails":    d.route("", webhook.PostscaleEvent, webhook.Emails(d.db, o)),
			"/panic":     d.route("", webhook.SnapshotBody, panics{}),
		} {
			route.Path, route.Receiver = path, overhearing{route.Receiver, heard}
			single := route
			batch := route
			batch.Path, batch.Batch = path+"/batch", true
			if path == "/snapshots" {
				b.routes = nil
			}
			b.routes = append(b.routes, single, batch)
		}
	})
	d.exec(t, `CREATE TABLE effect (event_id text)`)
	d.http.Config.ErrorLog = log.New(d.logs, "", 0)
	return d
}

// canaryBodies have the word in every field and in names, in forms that are accepted and refused.
func canaryBodies() []string {
	w := `"` + canary + `"`
	full := strings.ReplaceAll(`{"event_id": "evt", "id": "evt", "object_id": W, "revision": 1,
		"snapshot": {W: [W, {"v": W}]}, "type": W, "data": {"id": W, "object": {"id": W}, W: W},
		"message_id": W, "recipient": W, "delivery_id": W, "source": W, W: W,
		"event": {"type": W, "channel": W}, "repository": {"full_name": W},
		"admin_graphql_api_id": W}`, "W", w)
	bodies := []string{full, "", canary, w, "[" + w + "]", "[" + full + "," + full + "," + w + "]",
		`{` + w, `{"event_id": ` + canary + `}`, "\xff" + canary}
	for _, change := range [][2]string{
		{`"revision": 1`, `"revision": ` + w},
		{`"revision": 1`, `"revision": 2`},   // another content under the same id
		{`"evt"`, `"evt2"`},                  // another id for the same revision
		{`{"v": ` + w, `{"v": "\u0000" , W`}, // no JSON any more
		{`{"v": ` + w, `{"v": "\ud800` + canary + `"`},
		{`{"v": ` + w, `{"v": 1e131072, "w": ` + w},
		{`"type": ` + w, `"type": "fail"`},
		{`"type": ` + w, `"type": "refuse"`},
		{`"recipient": ` + w, `"recipient": "` + strings.Repeat(canary, 100) + `"`},
		{`"object_id": ` + w, `"object_id": "` + strings.Repeat(canary, 100) + `"`},
		{`"recipient": ` + w, `"occurred_at": ` + w + `, "recipient": ` + w},
	} {
		bodies = append(bodies, strings.Replace(full, change[0], change[1], 1))
	}
	return bodies
}

// canaryHeaders stand beside each body; the names are any that some mapping reads.
var canaryHeaders = []string{
	"Webhook-Id", "evt", "Webhook-Timestamp", canary, "Webhook-Signature", canary,
	"X-GitHub-Delivery", "evt", "X-GitHub-Event", canary,
	"X-Shopify-Event-Id", "evt", "X-Shopify-Topic", canary, "X-Shopify-Webhook-Id", canary,
	"Authorization", "Bearer " + canary, "User-Agent", canary, "Cookie", "a=" + canary,
	"X-Forwarded-For", canary, "Referer", "https://" + canary, "Traceparent", canary,
}

// Nothing that a sender wrote can be read in logs, metrics, answers, errors or PostgreSQL's log.
func TestNothingOfAnEventIsOverheard(t *testing.T) {
	needsServerLog(t)
	heard := &overheard{}
	d := newCanaryDoor(t, heard)
	send := func(path, body string, header ...string) {
		request := signed(t, d.http.URL+path+"?q="+canary, []byte(body),
			append(canaryHeaders, header...)...)
		r, err := d.try(t, request)
		require.NoError(t, err)
		heard.add("%d %v %s", r.Status, r.Header, r.Text)
	}
	paths := []string{"/snapshots", "/standard", "/atomic", "/github", "/shopify", "/slack",
		"/emails", "/panic", "/" + canary}
	for _, path := range paths {
		for _, body := range canaryBodies() {
			send(path, body)
			send(path+"/batch", "["+body+","+body+"]")
		}
		body := canaryBodies()[0]
		send(path, body, "X-Postscale-Signature", canary)
		send(path, body, "X-Postscale-Signature", "t="+canary+",v1="+canary)
		send(path, body, "Content-Type", "text/"+canary)
		send(path, body, "Content-Encoding", canary)
	}
	d.provoke(t, heard)

	heard.add("%s", d.logs)
	heard.add("%s", strings.Join(d.gathered(t), "\n"))
	serverLog, err := server.Log()
	require.NoError(t, err)
	require.Contains(t, serverLog, "lock timeout", "the server's log is not looked at in vain")
	require.Contains(t, heard.text.String(), "event_id=evt", "neither is ours")
	for _, text := range []string{heard.text.String(), serverLog} {
		if at := strings.Index(text, canary); at >= 0 {
			require.Fail(t, "overheard", text[max(0, at-300):min(len(text), at+100)])
		}
	}
}

// provoke makes the server speak: of a lock that was waited for in vain, of a statement that was
// cancelled, of a trigger that raised, of a connection that was ended.
func (d *door) provoke(t *testing.T, heard *overheard) {
	body := strings.NewReplacer(`"evt"`, `"evt9"`, `"revision": 1`, `"revision": 9`).
		Replace(canaryBodies()[0])
	later := func(why string) {
		r := d.send(t, "/snapshots", body)
		require.Equal(t, http.StatusServiceUnavailable, r.Status, why)
		heard.add("%s", r.Text)
	}
	d.exec(t, `INSERT INTO object_state VALUES ('shop', $1, 1, '{}') ON CONFLICT DO NOTHING`,
		canary)
	tx, err := d.pool.Begin(bounded(t))
	require.NoError(t, err)
	_, err = tx.Exec(bounded(t), `SELECT FROM object_state FOR UPDATE`)
	require.NoError(t, err)
	later("the row is locked")
	require.NoError(t, tx.Rollback(bounded(t)))

	d.exec(t, `CREATE FUNCTION trouble() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN PERFORM pg_sleep(60); RETURN NEW; END $$;
		CREATE TRIGGER trouble BEFORE INSERT ON object_state
			FOR EACH ROW EXECUTE FUNCTION trouble()`)
	answered := make(chan reply, 1)
	request := signed(t, d.http.URL+"/snapshots", []byte(body))
	go func() {
		r, _ := d.try(t, request)
		answered <- r
	}()
	d.waitUntil(t, `SELECT count(pg_terminate_backend(pid)) > 0
		FROM pg_stat_activity
		WHERE datname = current_database() AND wait_event = 'PgSleep'`)
	require.Equal(t, 503, (<-answered).Status)

	d.exec(t, `DROP TRIGGER trouble ON object_state`)
	require.Equal(t, "applied", d.send(t, "/snapshots", body).Outcome)
}

// What receivers store passes every CHECK of schema.sql, because they look first. A stricter one of
// the operator's own makes the server quote the row in its log, unless it is told to be terse.
func TestAForeignCheckNeedsATerseServer(t *testing.T) {
	needsServerLog(t)
	if err := server.Can(postgres.Superuser); err != nil {
		t.Skip(err)
	}
	d := newDoor(t)
	d.exec(t, `ALTER TABLE webhook_inbox ADD CONSTRAINT no_birds CHECK (snapshot <> '{"v": "bird"}')`)
	d.exec(t, `DO $$ BEGIN
		EXECUTE format('ALTER DATABASE %I SET log_error_verbosity = terse', current_database());
	END $$`)
	d.pool.Reset()
	r := d.send(t, "/snapshots", snapshot("evt_bird", "o", 1, `{"v": "bird"}`))
	require.Equal(t, "400 refused_by_check", fmt.Sprint(r.Status, " ", r.Code))
	require.Contains(t, d.logs.last(), "constraint no_birds")
	require.NotContains(t, d.logs.last(), `"v"`)
	serverLog, err := server.Log()
	require.NoError(t, err)
	_, ours, found := strings.Cut(serverLog, "no_birds")
	require.True(t, found)
	require.NotContains(t, ours, "evt_bird")
}

// needsServerLog skips a test that reads what the server has written: one that was given by its URL
// keeps that to itself.
func needsServerLog(t *testing.T) {
	if _, err := server.Log(); err != nil {
		t.Skip("not run: ", err)
	}
}

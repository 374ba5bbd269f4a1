package scenarios

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"webhooklab/lab"
	"webhooklab/lab/flawed"
	"webhooklab/lab/webhook"
	"webhooklab/toxiproxy"
)

// doorSecret signs everything that the true sender of the stories sends.
const doorSecret = "whsec_of_the_stories"

// doorPool is how many connections the door has, of which some stories take all.
const doorPool = 10

// A Sender is a receiver behind an HTTP door, and the one who delivers to it: over a hop that can
// lose what it carries.
type Sender interface {
	lab.Receiver

	// Lose makes the hop lose the next request or its response; the fault tells whether it did.
	Lose(at toxiproxy.Place, how toxiproxy.Close) *toxiproxy.Fault

	// Post sends a body to a path below the source's, signed with each of these secrets.
	Post(ctx context.Context, source, path, secrets string, body []byte) (lab.Answer, error)

	// Trickle sends half of the body and then nothing more.
	Trickle(ctx context.Context, source string, body []byte) (lab.Answer, error)

	// Exhaust takes every connection of the door's pool, until the returned function is called.
	Exhaust(ctx context.Context) (release func(), err error)
}

// Door is the reference receiver of snapshots behind its HTTP door, on a port of its own.
func Door(ctx context.Context, dsn string) (lab.Receiver, error) {
	return newDoor(ctx, dsn, func(flawed.DB, *webhook.Route) {})
}

// doorWith is a door that is sound but for this sin.
func doorWith(sin flawed.DoorSin) lab.NewReceiver {
	return func(ctx context.Context, dsn string) (lab.Receiver, error) {
		return newDoor(ctx, dsn, sin)
	}
}

func newDoor(ctx context.Context, dsn string, sin flawed.DoorSin) (lab.Receiver, error) {
	pool, err := openPool(ctx, dsn, doorPool)
	if err != nil {
		return nil, err
	}
	d := &door{
		pool: pool, sin: sin,
		handlers: map[string]http.Handler{}, served: make(chan struct{}),
	}
	d.server = &http.Server{Handler: d, ReadHeaderTimeout: 5 * time.Second}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("scenarios: open a door: %w", err)
	}
	d.hop, err = toxiproxy.Open(toxiproxy.Config{
		Name: "sender", Upstream: listener.Addr().String(), Requests: true,
	})
	if err != nil {
		pool.Close()
		listener.Close()
		return nil, err
	}
	go func() {
		defer close(d.served)
		_ = d.server.Serve(listener) // ends by Shutdown
	}()
	// One connection for each request: a kept one that was cut would be tried again unasked.
	d.client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return d, nil
}

type door struct {
	pool   *pgxpool.Pool
	server *http.Server
	hop    *toxiproxy.Proxy
	client *http.Client
	served chan struct{}

	sin flawed.DoorSin

	mu       sync.Mutex
	handlers map[string]http.Handler // by source and haste
	giveUp   context.CancelFunc      // of the request under way
}

func (d *door) Close() {
	_ = d.hop.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_ = d.server.Shutdown(ctx)
	<-d.served
	d.pool.Close()
}

// ServeHTTP finds the door of the source that the path begins with.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	escaped, _, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	source, err := url.PathUnescape(escaped)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	h, err := d.handler(source, strings.HasSuffix(r.URL.Path, "/hasty"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	http.StripPrefix("/"+source, h).ServeHTTP(w, r)
}

// handler is the door of one source: an old and a new address, and one for batches. A hasty one has
// no patience with slow senders and a busy pool; the other has all it takes on a busy machine.
func (d *door) handler(source string, hasty bool) (http.Handler, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := fmt.Sprint(source, hasty)
	if h := d.handlers[key]; h != nil {
		return h, nil
	}
	verifier, err := webhook.NewStripe(doorSecret)
	if err != nil {
		return nil, err
	}
	patience := time.Minute
	if hasty {
		patience = 100 * time.Millisecond
	}
	db := webhook.Acquire(d.pool, patience)
	route := webhook.Route{
		Path: "/hooks", Source: source, Verifier: verifier,
		Mapping: webhook.SnapshotBody, Receiver: webhook.Snapshots(db, patient),
	}
	old, batch, soon := route, route, route
	old.Path, batch.Path, batch.Batch, soon.Path = "/old", "/batch", true, "/hasty"
	routes := []webhook.Route{route, old, batch, soon}
	for i := range routes {
		d.sin(d.pool, &routes[i])
	}
	h, err := webhook.NewHandler(routes, webhook.Options{
		DB: db, Limits: webhook.Limits{ReadTimeout: patience, WorkTimeout: 5 * time.Minute},
	})
	if err == nil {
		d.handlers[key] = h
	}
	return h, err
}

// Receive posts the delivery as its sender would.
func (d *door) Receive(ctx context.Context, dl lab.Delivery) (lab.Answer, error) {
	return d.Post(ctx, dl.Source, "/hooks", doorSecret, bodyOf(dl))
}

func bodyOf(d lab.Delivery) []byte {
	if d.Body != nil {
		return d.Body
	}
	return snapshotBody(d)
}

// snapshotBody is what the sender writes of a delivery.
func snapshotBody(d lab.Delivery) []byte {
	body, err := json.Marshal(map[string]any{
		"event_id": d.EventID, "object_id": d.ObjectID, "revision": d.Revision,
		"snapshot": json.RawMessage(d.Snapshot),
	})
	if err != nil {
		return []byte(err.Error()) // no JSON, as the delivery was none
	}
	return body
}

func (d *door) Post(
	ctx context.Context, source, path, secrets string, body []byte,
) (lab.Answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d.mu.Lock()
	d.giveUp = cancel
	d.mu.Unlock()
	r, err := d.request(ctx, source, path, bytes.NewReader(body))
	if err != nil {
		return lab.Unknown, err
	}
	sign(r, secrets, body)
	return d.answered(d.client.Do(r))
}

func (d *door) request(
	ctx context.Context, source, path string, body io.Reader,
) (*http.Request, error) {
	address := "http://" + d.hop.Addr() + "/" + url.PathEscape(source) + path
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, body)
	if err == nil {
		r.Header.Set("Content-Type", "application/json")
	}
	return r, err
}

// sign signs by each of the secrets, of which a sender that rotates them has two.
func sign(r *http.Request, secrets string, body []byte) {
	at := strconv.FormatInt(time.Now().Unix(), 10)
	header := "t=" + at
	for secret := range strings.FieldsSeq(secrets) {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(at + "."))
		mac.Write(body)
		header += ",v1=" + hex.EncodeToString(mac.Sum(nil))
	}
	r.Header.Set("Stripe-Signature", header)
}

// answered is what the sender learns of a response: the outcome of a success, else the status.
func (d *door) answered(r *http.Response, err error) (lab.Answer, error) {
	if err != nil {
		return lab.Unknown, err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return lab.Unknown, err
	}
	if r.StatusCode != http.StatusOK {
		return lab.Answer{Outcome: strconv.Itoa(r.StatusCode)}, nil
	}
	var told struct {
		Outcome string `json:"outcome"`
	}
	if err := json.Unmarshal(body, &told); err != nil {
		return lab.Unknown, fmt.Errorf("an answer that is no JSON: %w", err)
	}
	return lab.Answer{Outcome: told.Outcome, Acked: true}, nil
}

// Lose arms the hop. A sender whose request hangs gives up when the fault fires, not when a time
// has passed.
func (d *door) Lose(at toxiproxy.Place, how toxiproxy.Close) *toxiproxy.Fault {
	f := &toxiproxy.Fault{At: at, Close: how}
	if how == toxiproxy.Hang {
		f.OnFire = func(toxiproxy.Event) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.giveUp()
		}
	}
	d.hop.Arm(f)
	return f
}

func (d *door) Trickle(ctx context.Context, source string, body []byte) (lab.Answer, error) {
	half, feed := io.Pipe()
	defer feed.Close()
	r, err := d.request(ctx, source, "/hasty", half)
	if err != nil {
		return lab.Unknown, err
	}
	sign(r, doorSecret, body)
	r.ContentLength = int64(len(body))
	go func() { _, _ = feed.Write(body[:len(body)/2]) }() // ends with the request
	return d.answered(d.client.Do(r))
}

func (d *door) Exhaust(ctx context.Context) (func(), error) {
	var held []*pgxpool.Conn
	release := func() {
		for _, c := range held {
			c.Release()
		}
		held = nil
	}
	for range doorPool {
		c, err := d.pool.Acquire(ctx)
		if err != nil {
			release()
			return func() {}, err
		}
		held = append(held, c)
	}
	return release, nil
}

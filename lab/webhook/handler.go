package webhook

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"webhooklab/lab/inbox"
)

// Route is one address that one sender delivers to.
type Route struct {
	// Path is matched as it is, byte by byte. It begins with a slash.
	Path string
	// Source names the sender's namespace of event ids: provider and account, or whatever else
	// keeps its ids apart. Several routes may share one, as an old and a new address do while
	// senders move; each event then takes effect once.
	Source string
	// Verifier knows the sender's secrets.
	Verifier Verifier
	// Mapping reads an event out of what the sender sends.
	Mapping Mapping
	// Receiver stores it.
	Receiver Receiver
	// Batch says that a body is a JSON array of events. It is for mappings that find the id in each
	// item: with one that takes it from a header, all items but the first are refused as conflicts.
	Batch bool
	// Types are those that may be named in logs. Any other type is the sender's own text, and
	// shown as "other".
	Types []string
}

// Options say what all routes share.
type Options struct {
	// DB holds the tables of schema.sql. Give it the receivers' own, bounded by [Acquire], so that
	// an exhausted pool is answered in time.
	DB inbox.DB
	// Log gets a line for each delivery, with the event id and no other word of the sender's. Nil
	// discards them.
	Log *slog.Logger
	// Metrics gets the handler's collectors. Nil leaves them unseen.
	Metrics prometheus.Registerer
	// Limits are on sizes and times.
	Limits Limits
}

// Limits bound what one request may take. A field that is zero or negative takes its default.
type Limits struct {
	// BodyBytes bounds a body, and with it the memory of a request. Default [inbox.MaxBodyBytes].
	BodyBytes int64
	// ReadTimeout is how long a sender may take to send its body. Default 10 s.
	ReadTimeout time.Duration
	// WorkTimeout bounds all that follows, whether or not the sender is still there. It should end
	// before the sender's own time-out. Default 20 s.
	WorkTimeout time.Duration
	// RetryAfter is when a sender may come again, where it has to. Default 30 s.
	RetryAfter time.Duration
}

func (l Limits) withDefaults() Limits {
	if l.BodyBytes <= 0 {
		l.BodyBytes = inbox.MaxBodyBytes
	}
	l.ReadTimeout = orDefault(l.ReadTimeout, 10*time.Second)
	l.WorkTimeout = orDefault(l.WorkTimeout, 20*time.Second)
	l.RetryAfter = orDefault(l.RetryAfter, 30*time.Second)
	return l
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}

// Two paths are the handler's own.
const (
	healthPath = "/healthz" // the process answers
	readyPath  = "/readyz"  // the database does, too
)

// handler answers all routes.
type handler struct {
	routes  map[string]*Route
	ledger  ledger
	log     *slog.Logger
	metrics *metrics
	limits  Limits
}

// NewHandler gives the door of all routes, and of /healthz and /readyz. It fails, naming the route,
// where something is missing that would let events in unverified or get lost.
func NewHandler(routes []Route, o Options) (http.Handler, error) {
	if o.DB == nil {
		return nil, errors.New("webhook: Options.DB is nil: give it the receivers' database")
	}
	h := &handler{
		routes: make(map[string]*Route, len(routes)),
		ledger: ledger{o.DB},
		log:    o.Log,
		limits: o.Limits.withDefaults(),
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	for _, route := range routes {
		if err := route.check(); err != nil {
			return nil, err
		}
		if h.routes[route.Path] != nil {
			return nil, fmt.Errorf("webhook: two routes have the path %q: leave one out",
				route.Path)
		}
		h.routes[route.Path] = &route
	}
	var err error
	h.metrics, err = newMetrics(o.Metrics, o.DB)
	return h, err
}

func (r Route) check() error {
	missing := func(what, advice string) error {
		return fmt.Errorf("webhook: route %q: %s: %s", r.Path, what, advice)
	}
	switch {
	case !strings.HasPrefix(r.Path, "/"):
		return missing("its path does not begin with a slash", "write it as in a URL")
	case r.Path == healthPath, r.Path == readyPath:
		return missing("its path is the handler's own", "choose another")
	case r.Source == "", len(r.Source) > 255, storable(r.Source) != r.Source:
		return missing("its source is no name", "give it 1 to 255 bytes of UTF-8 without NUL")
	case r.Verifier == nil:
		return missing("it has no verifier", "make one with the sender's secrets")
	case r.Mapping == nil:
		return missing("it has no mapping", "choose that of the provider")
	case r.Receiver == nil:
		return missing("it has no receiver", "choose one of this package, or your own")
	}
	return nil
}

// ServeHTTP is [http.Handler]'s.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	route := h.routes[r.URL.Path]
	switch {
	case r.URL.Path == healthPath:
		h.probe(w, r, func() bool { return true })
	case r.URL.Path == readyPath:
		h.probe(w, r, func() bool { return h.ledger.reachable(r.Context()) })
	case route == nil:
		h.refuse(w, nil, problem{Status: http.StatusNotFound, Code: "no_such_path"})
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		h.refuse(w, route, problem{Status: http.StatusMethodNotAllowed, Code: "not_a_post"})
	default:
		h.deliver(w, r, route)
	}
}

// probe answers a question about health by 200 or 503.
func (h *handler) probe(w http.ResponseWriter, r *http.Request, healthy func() bool) {
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		h.refuse(w, nil, problem{Status: http.StatusMethodNotAllowed, Code: "not_a_get"})
	case healthy():
		writeJSON(w, http.StatusOK, "application/json", answer{Outcome: "ok"})
	default:
		h.refuse(w, nil, problem{Status: http.StatusServiceUnavailable, Code: "unavailable"})
	}
}

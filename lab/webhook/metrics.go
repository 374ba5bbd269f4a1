package webhook

import (
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"webhooklab/lab/inbox"
)

// metrics have labels from the configuration and from this package's own words, never from a
// request.
type metrics struct {
	deliveries, signatures, requests, missing *prometheus.CounterVec
	seconds                                   *prometheus.HistogramVec
}

func newMetrics(registerer prometheus.Registerer, db inbox.DB) (*metrics, error) {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &metrics{
		deliveries: counter("webhook_deliveries_total",
			"Authentic deliveries by what they counted as and how they were answered.",
			"route", "counted_as", "outcome"),
		signatures: counter("webhook_bad_signatures_total",
			"Requests whose signature did not prove the sender.", "route", "reason"),
		requests: counter("webhook_turned_away_total",
			"Requests refused before their signature was looked at.", "route", "status"),
		missing: counter("webhook_unrecorded_deliveries_total",
			"Decided deliveries without a row in webhook_delivery.", "route"),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "webhook_answer_seconds",
			Help: "From the start of an authentic request to its answer.",
			Buckets: []float64{
				.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 20,
			},
		}, []string{"route", "counted_as"}),
	}
	if registerer == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{
		m.deliveries, m.signatures, m.requests, m.missing, m.seconds, newBacklog(db),
	} {
		if err := registerer.Register(c); err != nil {
			return nil, fmt.Errorf("webhook: register metrics: %w: "+
				"give each handler a registry of its own", err)
		}
	}
	return m, nil
}

func (m *metrics) delivered(route *Route, counted class, outcome string) {
	m.deliveries.WithLabelValues(route.Path, string(counted), outcome).Inc()
}

func (m *metrics) took(route *Route, counted class, d time.Duration) {
	m.seconds.WithLabelValues(route.Path, string(counted)).Observe(d.Seconds())
}

func (m *metrics) badSignature(route *Route, reason string) {
	m.signatures.WithLabelValues(route.Path, reason).Inc()
}

func (m *metrics) unrecorded(route *Route) { m.missing.WithLabelValues(route.Path).Inc() }

func (m *metrics) turnedAway(route *Route, status int) {
	path := "none"
	if route != nil {
		path = route.Path
	}
	m.requests.WithLabelValues(path, strconv.Itoa(status)).Inc()
}

package scenarios_test

import (
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/postgres"
	"webhooklab/scenarios"
	"webhooklab/toxiproxy"
)

// One stepped scenario of two sessions, from its first delivery to its judgement.
func BenchmarkScenario(b *testing.B) {
	lb := bench(b, postgres.Fast, scenarios.SnapshotSuite, scenarios.Options{})
	for b.Loop() {
		scenarios.Demand(b, lb.Run(b.Context(), scenarios.RetryDuringCommit))
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "scenarios/s")
}

// From the release of a command to the proof that it waits, in milliseconds.
func BenchmarkBlockedSeen(b *testing.B) {
	lb := bench(b, postgres.Fast, scenarios.SnapshotSuite, scenarios.Options{})
	var seen []time.Duration
	probe := lab.Scenario{Name: "probe", Play: func(l *lab.Lab) {
		first, retry := l.Session("first"), l.Session("retry")
		first.Deliver(lab.Delivery{
			Source: "shop", EventID: "e", ObjectID: "o", Revision: 1, Snapshot: []byte(`{}`),
		}).HoldBefore("COMMIT")
		retry.Deliver(lab.Delivery{
			Source: "shop", EventID: "e", ObjectID: "o", Revision: 1, Snapshot: []byte(`{}`),
		})
		began := time.Now()
		retry.BlockedBy(first)
		seen = append(seen, time.Since(began))
		first.Answers(lab.Applied)
		retry.Answers(lab.Duplicate)
	}}
	for b.Loop() {
		scenarios.Demand(b, lb.Run(b.Context(), probe))
	}
	slices.Sort(seen)
	b.ReportMetric(seen[len(seen)/2].Seconds()*1e3, "p50-ms")
	b.ReportMetric(seen[len(seen)*99/100].Seconds()*1e3, "p99-ms")
}

// One delivery of the reference, without a wire and through an open one.
func BenchmarkDelivery(b *testing.B) {
	lb := bench(b, postgres.Fast, scenarios.SnapshotSuite, scenarios.Options{})
	for _, way := range []string{"direct", "wire"} {
		b.Run(way, func(b *testing.B) {
			dsn := lb.Database.DSN()
			if way == "wire" {
				dsn = throughWire(b, dsn)
			}
			r, err := scenarios.Snapshots(b.Context(), dsn)
			require.NoError(b, err)
			defer r.(interface{ Close() }).Close()
			n := 0
			for b.Loop() {
				n++
				a, err := r.Receive(b.Context(), lab.Delivery{
					Source: way + b.Name(), EventID: fmt.Sprint(time.Now().UnixNano(), n),
					ObjectID: fmt.Sprint(time.Now().UnixNano(), n), Revision: 1,
					Snapshot: []byte(`{"value": true}`),
				})
				require.NoError(b, err)
				require.Equal(b, lab.Applied, a)
			}
		})
	}
}

func throughWire(b *testing.B, dsn string) string {
	u, err := url.Parse(dsn)
	require.NoError(b, err)
	p, err := toxiproxy.Open(toxiproxy.Config{Upstream: u.Host})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, p.Close()) })
	u.Host = p.Addr()
	return u.String()
}

package webhook_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// loadConnections is how many senders there are, each with one delivery at a time, and how many
// connections the pool has.
const loadConnections = 10

// load is what the senders of one run learned.
type load struct {
	mu      sync.Mutex
	took    []time.Duration
	answers map[string]int
}

// BenchmarkLoad delivers new snapshots, one in ten of them twice, from ten senders at a time, and
// requires that the answers agree with the tables. In the same run pgbench does the same SQL alone
// over as many connections, for as long. With -benchtime 60s it is the load test of the door.
func BenchmarkLoad(b *testing.B) {
	d := newDoor(b, func(_ *door, bu *building) { bu.pool = loadConnections })
	d.client.Transport = &http.Transport{MaxIdleConnsPerHost: loadConnections}
	l := &load{answers: map[string]int{}}
	b.SetParallelism((loadConnections + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
	b.ResetTimer()
	b.RunParallel(func(next *testing.PB) { l.deliver(b, d, next) })
	b.StopTimer()

	slices.Sort(l.took)
	b.ReportMetric(float64(len(l.took))/b.Elapsed().Seconds(), "deliveries/s")
	b.ReportMetric(milliseconds(l.took[len(l.took)/2]), "p50-ms")
	b.ReportMetric(milliseconds(l.took[len(l.took)*99/100]), "p99-ms")
	require.Equal(b, len(l.took), l.answers["applied"]+l.answers["stale"]+l.answers["duplicate"],
		"%v", l.answers)
	require.Equal(b, l.answers["applied"]+l.answers["stale"],
		d.number(b, `SELECT count(*) FROM webhook_inbox`))
	require.Equal(b, fmt.Sprint(len(l.took), " ", l.answers["duplicate"]), d.text(b, `
		SELECT deliveries || ' ' || duplicate FROM operator_deliveries`))
	b.ReportMetric(d.pgbench(b, max(b.Elapsed(), time.Second)), "pgbench-tps")
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// deliver is one sender.
func (l *load) deliver(b *testing.B, d *door, next *testing.PB) {
	var took []time.Duration
	answers := map[string]int{}
	sender, last := rand.Uint64(), ""
	for i := 1; next.Next(); i++ {
		if i%10 != 0 {
			last = snapshot(fmt.Sprint(sender, " ", i), fmt.Sprint(sender, " ", rand.IntN(100)), i,
				`{"v": 1, "status": "paid", "total": 1250}`)
		}
		began := time.Now()
		r := d.send(b, "/snapshots", last)
		took = append(took, time.Since(began))
		answers[r.Outcome+r.Code]++
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took = append(l.took, took...)
	for answer, n := range answers {
		l.answers[answer] += n
	}
}

var transactionsPerSecond = regexp.MustCompile(`tps = ([0-9.]+)`)

// pgbench runs testdata/pgbench.sql, and gives 0 where there is no pgbench.
func (d *door) pgbench(b *testing.B, duration time.Duration) float64 {
	path, err := exec.LookPath("pgbench")
	if err != nil {
		b.Log("not run: there is no pgbench here")
		return 0
	}
	ctx, cancel := context.WithTimeout(context.Background(), duration+time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--no-vacuum", "--protocol=prepared",
		"--client", strconv.Itoa(loadConnections), "--jobs=2",
		"--time", strconv.Itoa(int(duration.Seconds())),
		"--file=testdata/pgbench.sql", d.dsn).CombinedOutput()
	require.NoError(b, err, "%s", out)
	tps, err := strconv.ParseFloat(string(transactionsPerSecond.FindSubmatch(out)[1]), 64)
	require.NoError(b, err)
	return tps
}

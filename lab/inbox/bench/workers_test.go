// Package bench holds the leased worker beside River (github.com/riverqueue/river), a job queue of
// the same kind: one server, one run, the same number of workers, a handler of one INSERT. It is a
// module of its own, so that nobody who uses this project pays for that comparison.
//
//	cd lab/inbox/bench && go test -bench . -benchtime 5000x
package bench

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/stretchr/testify/require"

	"webhooklab"
	"webhooklab/lab/inbox"
	"webhooklab/lab/postgres"
)

var server *postgres.Server

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctx := context.Background()
	var err error
	if server, err = postgres.Start(ctx, postgres.Config{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	defer server.Stop(ctx)
	fmt.Fprintln(os.Stderr, server.Describe())
	return m.Run()
}

const effect = `CREATE TABLE effect (event_id text NOT NULL);`

func pool(b *testing.B, workers int) *pgxpool.Pool {
	template, err := server.Template(b.Context(), webhooklab.Schema+effect)
	require.NoError(b, err)
	database, err := template.Clone(b.Context())
	require.NoError(b, err)
	cfg, err := postgres.ParsePoolConfig(database.DSN())
	require.NoError(b, err)
	cfg.MaxConns = int32(workers + 4)
	p, err := pgxpool.NewWithConfig(b.Context(), cfg)
	require.NoError(b, err)
	b.Cleanup(func() {
		p.Close()
		require.NoError(b, database.Drop(context.Background()))
	})
	return p
}

func BenchmarkWorkers(b *testing.B) {
	for _, workers := range []int{1, 4, 8} {
		b.Run(fmt.Sprintf("receipts/workers=%d", workers), func(b *testing.B) {
			receipts(b, workers)
		})
		b.Run(fmt.Sprintf("river/workers=%d", workers), func(b *testing.B) { rivers(b, workers) })
	}
}

// receipts processes b.N stored receipts with a pool of this many workers.
func receipts(b *testing.B, workers int) {
	p := pool(b, workers)
	_, err := p.Exec(b.Context(), `
INSERT INTO webhook_receipt (source, event_id, event_type, payload, raw_body, model, status,
                             max_attempts, next_attempt_at, actor)
SELECT 'shop', 'evt_' || n, 'order.paid', '{}', '{}', 'leased', 'pending',
       3, clock_timestamp(), 'intake'
  FROM generate_series(1, $1) AS n`, b.N)
	require.NoError(b, err)
	_, err = p.Exec(b.Context(), `ANALYZE webhook_receipt`)
	require.NoError(b, err)

	done := newCountdown(b.N)
	change := func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
		_, err := tx.Exec(ctx, `INSERT INTO effect (event_id) VALUES ($1)`, e.ID)
		return err
	}
	worker := inbox.NewWorker(p, change, inbox.WorkerOptions{})
	pool := inbox.NewPool(worker, workers, inbox.PoolOptions{
		Report: func(o inbox.Outcome, err error) {
			if o == inbox.Processed {
				done.one()
			}
		},
	})
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	b.ResetTimer()
	go func() { ended <- pool.Run(ctx) }()
	done.wait(b)
	b.StopTimer()
	cancel()
	require.NoError(b, <-ended)
	report(b, p, "webhook_receipt")
}

type job struct {
	ID string `json:"id"`
}

func (job) Kind() string { return "order_paid" }

type rider struct {
	river.WorkerDefaults[job]
	pool *pgxpool.Pool
	done *countdown
}

func (r *rider) Work(ctx context.Context, j *river.Job[job]) error {
	_, err := r.pool.Exec(ctx, `INSERT INTO effect (event_id) VALUES ($1)`, j.Args.ID)
	if err == nil {
		r.done.one()
	}
	return err
}

// rivers works b.N River jobs with this many workers. It fetches as often as River allows.
func rivers(b *testing.B, workers int) {
	p := pool(b, workers)
	migrator, err := rivermigrate.New(riverpgxv5.New(p), nil)
	require.NoError(b, err)
	_, err = migrator.Migrate(b.Context(), rivermigrate.DirectionUp, nil)
	require.NoError(b, err)
	done := newCountdown(b.N)
	registry := river.NewWorkers()
	river.AddWorker(registry, &rider{pool: p, done: done})
	client, err := river.NewClient(riverpgxv5.New(p), &river.Config{
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: workers}},
		Workers:           registry,
		FetchCooldown:     time.Millisecond,
		FetchPollInterval: 2 * time.Millisecond,
	})
	require.NoError(b, err)
	for from := 0; from < b.N; from += 1000 {
		var batch []river.InsertManyParams
		for i := from; i < min(from+1000, b.N); i++ {
			batch = append(batch, river.InsertManyParams{Args: job{ID: fmt.Sprint("evt_", i)}})
		}
		_, err := client.InsertMany(b.Context(), batch)
		require.NoError(b, err)
	}
	_, err = p.Exec(b.Context(), `ANALYZE river_job`)
	require.NoError(b, err)

	b.ResetTimer()
	require.NoError(b, client.Start(b.Context()))
	done.wait(b)
	b.StopTimer()
	require.NoError(b, client.Stop(context.Background()))
	report(b, p, "river_job")
}

// report gives the rate, and what the table has left behind.
func report(b *testing.B, p *pgxpool.Pool, table string) {
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "done/s")
	var dead, effects int
	require.NoError(b, p.QueryRow(b.Context(), `SELECT count(*) FROM effect`).Scan(&effects))
	require.Equal(b, b.N, effects)
	require.NoError(b, p.QueryRow(b.Context(),
		`SELECT pg_stat_force_next_flush() IS NULL, n_dead_tup
		   FROM pg_stat_user_tables WHERE relname = $1`, table).Scan(new(bool), &dead))
	b.ReportMetric(float64(dead)/float64(b.N), "dead-rows/done")
}

// countdown ends when it was counted down from n.
type countdown struct {
	left atomic.Int64
	zero chan struct{}
}

func newCountdown(n int) *countdown {
	c := &countdown{zero: make(chan struct{})}
	c.left.Store(int64(n))
	return c
}

func (c *countdown) one() {
	if c.left.Add(-1) == 0 {
		close(c.zero)
	}
}

func (c *countdown) wait(b *testing.B) {
	select {
	case <-c.zero:
	case <-time.After(5 * time.Minute):
		b.Fatalf("%d of %d are not done after 5 minutes", c.left.Load(), b.N)
	}
}

package toxiproxy_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"webhooklab/toxiproxy"
)

// on runs the work over a direct connection, over an open wire, and over a shut one that a
// listener releases at once.
func on(b *testing.B, work func(ctx context.Context, c *pgx.Conn) error) {
	run := func(b *testing.B, r *rig, c *pgx.Conn) {
		ctx := context.Background()
		require.NoError(b, work(ctx, c)) // prepares its statements
		for b.Loop() {
			if err := work(ctx, c); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("direct", func(b *testing.B) {
		r := newRig(b)
		run(b, r, connect(b, r.dsn))
	})
	b.Run("open wire", func(b *testing.B) {
		r := newRig(b)
		p, err := toxiproxy.Open(toxiproxy.Config{Name: "bench", Upstream: host(b, r.dsn)})
		require.NoError(b, err)
		defer p.Close()
		run(b, r, connect(b, through(b, r.dsn, p)))
	})
	b.Run("held and released", func(b *testing.B) {
		r := newRig(b)
		var p *toxiproxy.Proxy
		release := func(e toxiproxy.Event) {
			if e.Kind == toxiproxy.Held {
				_ = p.Release(e.Command, nil) // fails only when the wire is closing
			}
		}
		var err error
		p, err = toxiproxy.Open(toxiproxy.Config{Name: "bench", Upstream: host(b, r.dsn),
			Notify: release})
		require.NoError(b, err)
		defer p.Close()
		p.Gate(true)
		run(b, r, connect(b, through(b, r.dsn, p)))
	})
}

func BenchmarkRoundTrip(b *testing.B) {
	on(b, func(ctx context.Context, c *pgx.Conn) error {
		var one int
		return c.QueryRow(ctx, "SELECT 1").Scan(&one)
	})
}

// Four commands: what a webhook receiver does for one delivery.
func BenchmarkDelivery(b *testing.B) {
	on(b, func(ctx context.Context, c *pgx.Conn) error {
		return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, insert+" ON CONFLICT DO NOTHING", 1, "x"); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "UPDATE entry SET body = $2 WHERE id = $1", 1, "y")
			return err
		})
	})
}

// A new connection: the price of its links and toxics beside the server's own.
func BenchmarkConnect(b *testing.B) {
	ctx := context.Background()
	connectBy := func(b *testing.B, dsn string) {
		for b.Loop() {
			c, err := pgx.Connect(ctx, dsn)
			if err != nil {
				b.Fatal(err)
			}
			_ = c.Close(ctx)
		}
	}
	b.Run("direct", func(b *testing.B) { connectBy(b, newRig(b).dsn) })
	b.Run("open wire", func(b *testing.B) { connectBy(b, newRig(b).over()) })
}

package postgres

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKilledServerKeepsWhatItAcknowledged(t *testing.T) {
	for _, profile := range []Profile{Fast, Durable} {
		t.Run(profile.String(), func(t *testing.T) {
			s, ctx := startLocalServer(t, profile), bounded(t)
			template, err := s.Template(ctx, notes)
			require.NoError(t, err)
			db, err := template.Clone(ctx)
			require.NoError(t, err)
			query[int](t, db.DSN(), "INSERT INTO note VALUES (1) RETURNING id")
			addr := s.Addr()
			family := append(children(s.engine.(*local).now.pid), s.engine.(*local).now.pid)
			require.Greater(t, len(family), 3)

			require.NoError(t, s.Kill(ctx))
			for _, pid := range family {
				require.False(t, alive(pid), "process %d survived the kill", pid)
			}
			require.NoError(t, s.Kill(ctx), "killing twice is no fault")

			require.NoError(t, s.Restart(ctx))
			require.Equal(t, addr, s.Addr())
			require.Equal(t, 1, query[int](t, db.DSN(), "SELECT count(*) FROM note"))
			require.ErrorContains(t, s.Restart(ctx), "still runs")
			log, err := s.Log()
			require.NoError(t, err)
			require.Contains(t, log, "automatic recovery in progress")
		})
	}
}

func TestDurableServerIsNotInMemory(t *testing.T) {
	s := startLocalServer(t, Durable)
	require.False(t, inMemory(s.engine.(*local).data()))
	for name, want := range map[string]string{
		"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on",
	} {
		require.Equal(t, want,
			query[string](t, s.DSN("postgres"), "SELECT current_setting('"+name+"')"), name)
	}
}

func TestStopAfterKillRemovesEverything(t *testing.T) {
	needLocal(t)
	ctx := bounded(t)
	s, err := Start(ctx, Config{Mode: "local"})
	require.NoError(t, err)
	require.NoError(t, s.Kill(ctx))
	require.NoError(t, s.Stop(ctx))
	require.NoError(t, s.Stop(ctx), "stopping twice is no fault")
	require.False(t, exists(s.engine.(*local).dir))
}

// A benchmark of the crash cell: kill, restart, first query.
func BenchmarkKillAndRestart(b *testing.B) {
	for _, profile := range []Profile{Fast, Durable} {
		b.Run(profile.String(), func(b *testing.B) {
			s, ctx := startLocalServer(b, profile), bounded(b)
			for b.Loop() {
				require.NoError(b, s.Kill(ctx))
				require.NoError(b, s.Restart(ctx))
				query[int](b, s.DSN("postgres"), "SELECT 1")
			}
		})
	}
}

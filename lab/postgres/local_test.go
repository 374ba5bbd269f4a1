package postgres

import (
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

const notes = "CREATE TABLE note (id int PRIMARY KEY, body text);"

// query runs one query on a database, past the package's own administration.
func query[T any](t testing.TB, dsn, sql string) (value T) {
	t.Helper()
	ctx := bounded(t)
	conf, err := ParseConfig(dsn)
	require.NoError(t, err)
	conn, err := pgx.ConnectConfig(ctx, conf)
	require.NoError(t, err)
	defer conn.Close(ctx)
	require.NoError(t, conn.QueryRow(ctx, sql).Scan(&value))
	return value
}

// execute runs statements that return nothing.
func execute(t testing.TB, dsn, sql string) {
	t.Helper()
	ctx := bounded(t)
	conf, err := ParseConfig(dsn)
	require.NoError(t, err)
	conn, err := pgx.ConnectConfig(ctx, conf)
	require.NoError(t, err)
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	require.NoError(t, err)
}

func TestLocalServerGivesClonesOfATemplate(t *testing.T) {
	s, ctx := startLocalServer(t, Fast), bounded(t)
	require.Regexp(t, `^PostgreSQL \d+\.\d+ · local binary /\S+/postgres · fast$`, s.Describe())
	require.Equal(t, "local", s.Kind())

	template, err := s.Template(ctx, notes)
	require.NoError(t, err)
	one, err := template.Clone(ctx)
	require.NoError(t, err)
	other, err := template.Clone(ctx)
	require.NoError(t, err)
	require.NotEqual(t, one.Name(), other.Name())
	require.Equal(t, 1, query[int](t, one.DSN(), "INSERT INTO note VALUES (1) RETURNING id"))
	require.Equal(t, 0, query[int](t, other.DSN(), "SELECT count(*) FROM note"))

	require.NoError(t, one.Drop(ctx))
	require.NoError(t, one.Drop(ctx), "dropping twice is no fault")
}

func TestLocalServerSettings(t *testing.T) {
	s := startLocalServer(t, Fast)
	for name, want := range map[string]string{
		"deadlock_timeout": "20ms", "max_connections": "200", "timezone": "UTC", "jit": "off",
		"fsync": "off", "synchronous_commit": "on", "listen_addresses": "127.0.0.1",
		"unix_socket_directories": filepath.Dir(s.Socket()), "max_prepared_transactions": "8",
	} {
		got := query[string](t, s.DSN("postgres"), "SELECT current_setting('"+name+"')")
		require.Equal(t, want, got, name)
	}
}

func BenchmarkStartLocal(b *testing.B) {
	for b.Loop() {
		s, err := Start(bounded(b), Config{Mode: "local"})
		require.NoError(b, err)
		b.StopTimer()
		require.NoError(b, s.Stop(bounded(b)))
		b.StartTimer()
	}
}

func BenchmarkClone(b *testing.B) {
	s, ctx := startLocalServer(b, Fast), bounded(b)
	template, err := s.Template(ctx, notes)
	require.NoError(b, err)
	for b.Loop() {
		clone, err := template.Clone(ctx)
		require.NoError(b, err)
		b.StopTimer()
		require.NoError(b, clone.Drop(ctx))
		b.StartTimer()
	}
}

func BenchmarkDrop(b *testing.B) {
	s, ctx := startLocalServer(b, Fast), bounded(b)
	template, err := s.Template(ctx, notes)
	require.NoError(b, err)
	for b.Loop() {
		b.StopTimer()
		clone, err := template.Clone(ctx)
		require.NoError(b, err)
		b.StartTimer()
		require.NoError(b, clone.Drop(ctx))
	}
}

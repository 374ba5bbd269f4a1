package postgres

import (
	"context"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"
)

// asRole is the URL of a fresh role on a server, and of the database "postgres" there.
func asRole(t *testing.T, s *Server, role, rights string) string {
	t.Helper()
	execute(t, s.DSN("postgres"), "CREATE ROLE "+role+" LOGIN PASSWORD 'pa ss' "+rights)
	u, err := url.Parse(s.DSN("postgres"))
	require.NoError(t, err)
	u.User = url.UserPassword(role, "pa ss")
	return u.String()
}

func TestGivenServerNeedsTheUsersWord(t *testing.T) {
	s := startLocalServer(t, Fast)
	t.Setenv("LAB_DISPOSABLE", "")
	_, err := Start(bounded(t), Config{Mode: s.DSN("postgres")})
	require.ErrorContains(t, err, "LAB_DISPOSABLE=1")
	require.ErrorContains(t, err, s.Addr())
}

func TestGivenServerServesASuperuser(t *testing.T) {
	s, ctx := startLocalServer(t, Fast), bounded(t)
	t.Setenv("LAB_DISPOSABLE", "1")
	t.Setenv("LAB_POSTGRES", s.DSN("postgres"))
	t.Setenv(HandoverVariable, "")
	g, err := Start(ctx, Config{Progress: progress(t)})
	require.NoError(t, err)
	require.Equal(t, "dsn", g.Kind())
	require.Equal(t, s.Addr(), g.Addr())
	require.Equal(t, "PostgreSQL "+s.release+" · given server "+s.Addr()+" · its own settings",
		g.Describe())
	require.ErrorContains(t, g.Kill(ctx), "not run: the server was given by URL")
	require.ErrorContains(t, g.Can(Signal), "not run: ")
	require.NoError(t, g.Can(DeadlockTimeout))
	_, err = g.Log()
	require.ErrorContains(t, err, "not run: ")

	template, err := g.Template(ctx, notes)
	require.NoError(t, err)
	db, err := template.Clone(ctx)
	require.NoError(t, err)
	require.Equal(t, "20ms UTC", query[string](t, db.DSN(),
		"SELECT current_setting('deadlock_timeout') || ' ' || current_setting('timezone')"))
	child := startChild(t, "attach", HandoverVariable+"="+g.Handover())
	require.Contains(t, child.said, "dsn "+s.Addr())
	require.Equal(t, 3, databases(t, s))
	require.NoError(t, child.cmd.Process.Kill())
	require.NoError(t, g.Stop(ctx))
	require.Equal(t, 0, databases(t, s), "the clone of a killed child is dropped too")
}

func TestGivenServerSaysWhatARoleMayNotDo(t *testing.T) {
	s, ctx := startLocalServer(t, Fast), bounded(t)
	t.Setenv("LAB_DISPOSABLE", "1")
	_, err := Start(ctx, Config{Mode: asRole(t, s, "reader", "")})
	require.ErrorContains(t, err, `ALTER ROLE "reader" CREATEDB`)

	plain := asRole(t, s, "builder", "CREATEDB")
	g, err := Start(ctx, Config{Mode: plain})
	require.NoError(t, err)
	require.ErrorContains(t, g.Can(Superuser), "not run: role builder is no superuser")
	require.ErrorContains(t, g.Can(DeadlockTimeout), "not run: role builder may not set")
	template, err := g.Template(ctx, notes)
	require.NoError(t, err)
	db, err := template.Clone(ctx)
	require.NoError(t, err)
	query[int](t, db.DSN(), "INSERT INTO note VALUES (1) RETURNING id")
	require.NoError(t, db.Drop(ctx))
	require.NoError(t, g.Stop(ctx))
	require.NoError(t, g.Stop(ctx), "stopping twice is no fault")
	require.Equal(t, 0, databases(t, s))

	if s.Version() >= 150000 {
		execute(t, s.DSN("postgres"), "GRANT SET ON PARAMETER deadlock_timeout TO builder")
		g, err = Start(ctx, Config{Mode: plain})
		require.NoError(t, err)
		require.NoError(t, g.Can(DeadlockTimeout))
		require.NoError(t, g.Stop(ctx))
	}
}

// childOwnsGiven makes a clone on the server of LAB_POSTGRES.
func childOwnsGiven(ctx context.Context) (string, *Server, error) { return childAttaches(ctx) }

func TestNextStartSweepsTheDatabasesOfADeadOwner(t *testing.T) {
	s, ctx := startLocalServer(t, Fast), bounded(t)
	env := []string{"LAB_DISPOSABLE=1", "LAB_POSTGRES=" + s.DSN("postgres"), HandoverVariable + "="}
	dead := startChild(t, "given", append(env, "LAB_KEEP=")...)
	living := startChild(t, "given", append(env, "LAB_KEEP=")...)
	kept := startChild(t, "given", append(env, "LAB_KEEP=1")...)
	require.NoError(t, kept.let())
	require.NoError(t, dead.cmd.Process.Kill())
	dead.cmd.Wait()
	// The owner is gone when its backend has seen the end of its connection.
	unlocked := func() bool {
		return query[int](t, s.DSN("postgres"), "SELECT count(DISTINCT (classid, objid)) "+
			"FROM pg_locks WHERE locktype = 'advisory'") == 1
	}
	require.True(t, await(ctx, 5*time.Second, unlocked))
	require.Equal(t, 6, databases(t, s))

	t.Setenv("LAB_DISPOSABLE", "1")
	// From another database: locks must be seen across.
	g, err := Start(ctx, Config{Mode: s.DSN("template1"), Progress: progress(t)})
	require.NoError(t, err)
	require.Equal(t, 4, databases(t, s), "the dead owner's template and clone are gone")
	require.NoError(t, g.Stop(ctx))
	require.NoError(t, living.let())
	require.Equal(t, 2, databases(t, s), "kept ones stay")
}

func TestVersionsOutOfRangeAreRefusedByName(t *testing.T) {
	t.Setenv("LAB_DISPOSABLE", "1")
	for _, release := range []string{"13.22", "19beta1", "9.6.24"} {
		_, err := Start(bounded(t), Config{Mode: fakeServer(t, release)})
		require.ErrorContains(t, err, "PostgreSQL "+release+" is refused")
		require.ErrorContains(t, err, "accepts 14 to 18")
	}
	require.NoError(t, checkVersion(140000, "14.0"))
	require.NoError(t, checkVersion(180001, "18.1"))

	folder := t.TempDir()
	for name, text := range map[string]string{
		"postgres": "#!/bin/sh\necho 'postgres (PostgreSQL) 13.22 (Debian)'\n",
		"initdb":   "#!/bin/sh\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o700))
	}
	found, err := probe(bounded(t), folder)
	require.NoError(t, err)
	require.ErrorContains(t, checkVersion(found.major*10000, found.version), "13.22")
}

// fakeServer greets one connection as a server of some release, and returns its URL.
func fakeServer(t *testing.T, release string) string {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		backend := pgproto3.NewBackend(conn, conn)
		if _, err := backend.ReceiveStartupMessage(); err != nil {
			return
		}
		backend.Send(&pgproto3.AuthenticationOk{})
		backend.Send(&pgproto3.ParameterStatus{Name: "server_version", Value: release})
		backend.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		backend.Flush()
		backend.Receive() // Terminate
	}()
	t.Cleanup(func() { l.Close(); <-ended })
	return "postgres://me@" + l.Addr().String() + "/postgres"
}

func TestGivenURLs(t *testing.T) {
	u, base, err := givenURL("postgres://me:p%20w@db:1/shop?pool_max_conns=3&sslmode=prefer")
	require.NoError(t, err)
	require.Equal(t, "shop", base)
	require.Equal(t, "postgres://me:p%20w@db:1?sslmode=disable", u.String())
	u, base, err = givenURL("postgres:///?host=db&user=me")
	require.NoError(t, err)
	require.Equal(t, "postgres", base)
	require.Equal(t, "db:5432", u.Host)
	_, _, err = givenURL("postgres://me@one,two/shop")
	require.ErrorContains(t, err, "one host")
	_, _, err = givenURL("postgres://me@/shop?host=/var/run")
	require.ErrorContains(t, err, "one host")
}

package postgres

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// childOwns starts a server and tells its folder and postmaster.
func childOwns(ctx context.Context) (string, *Server, error) {
	s, err := Start(ctx, Config{Mode: "local", Progress: func(string) {}})
	if err != nil {
		return "", nil, err
	}
	l := s.engine.(*local)
	return l.dir + " " + strconv.Itoa(l.now.pid), s, nil
}

// owned splits what childOwns said.
func owned(t *testing.T, said string) (dir string, pid int) {
	t.Helper()
	dir, number, found := strings.Cut(said, " ")
	require.True(t, found, said)
	pid, err := strconv.Atoi(number)
	require.NoError(t, err)
	return dir, pid
}

func TestServerDiesWithItsOwner(t *testing.T) {
	needLocal(t)
	owner := startChild(t, "own", "LAB_KEEP=")
	dir, pid := owned(t, owner.said)
	require.True(t, alive(pid))
	require.NoError(t, owner.cmd.Process.Kill())
	gone := func() bool { return !alive(pid) && len(children(pid)) == 0 }
	require.True(t, await(bounded(t), 5*time.Second, gone), "a server outlived its owner by 5 s")

	startLocalServer(t, Fast)
	require.False(t, exists(dir), "the next start left the dead server's folder")
}

func TestSweepEndsAStoppedBackendOfADeadOwner(t *testing.T) {
	needLocal(t)
	// Kept servers are not bound to their owner's life: here the sweep has to do it all.
	owner := startChild(t, "own", "LAB_KEEP=1")
	dir, pid := owned(t, owner.said)
	backends := children(pid)
	require.NotEmpty(t, backends)
	require.NoError(t, syscall.Kill(backends[0], syscall.SIGSTOP))
	require.NoError(t, owner.cmd.Process.Kill())
	owner.cmd.Wait()
	require.True(t, alive(pid))

	startLocalServer(t, Fast)
	require.False(t, alive(pid), "the sweep left the server")
	require.False(t, alive(backends[0]), "the sweep left a stopped backend")
	require.False(t, exists(dir))
}

func TestSweepSparesTheLivingAndTheKept(t *testing.T) {
	needLocal(t)
	living, kept := startChild(t, "own", "LAB_KEEP="), startChild(t, "own", "LAB_KEEP=1")
	keptDir, keptPid := owned(t, kept.said)
	t.Cleanup(func() { require.NoError(t, bury(keptDir)) })
	require.NoError(t, kept.let())

	startLocalServer(t, Fast)
	dir, pid := owned(t, living.said)
	require.True(t, alive(pid) && exists(dir), "swept a server whose owner lives")
	require.True(t, alive(keptPid) && exists(keptDir), "swept a server that LAB_KEEP keeps")
	require.NoError(t, living.let())
	require.False(t, alive(pid) || exists(dir))

	require.NoError(t, os.Remove(filepath.Join(keptDir, keepFile)))
	startLocalServer(t, Fast)
	require.False(t, alive(keptPid) || exists(keptDir))
}

func TestKeptServerIsStoppedTwice(t *testing.T) {
	needLocal(t)
	t.Setenv("LAB_KEEP", "1")
	var said []string
	s, err := Start(bounded(t), Config{Mode: "local",
		Progress: func(line string) { said = append(said, line) }})
	require.NoError(t, err)
	require.NoError(t, s.Stop(bounded(t)))
	require.NoError(t, s.Stop(bounded(t)), "stopping twice is no fault")
	require.Contains(t, said[len(said)-1], s.DSN("postgres"))
	require.Contains(t, said[len(said)-1], "remove it: kill -QUIT")
	require.Equal(t, 1, query[int](t, s.DSN("postgres"), "SELECT 1"))
	require.NoError(t, bury(s.engine.(*local).dir))
}

func TestSweepNeverKillsAStranger(t *testing.T) {
	data := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(data, "postmaster.pid"),
		[]byte(strconv.Itoa(os.Getpid())+"\n"), 0o600))
	require.Zero(t, postmasterOf(data), "took a reused process id for the server")
}

func TestConcurrentStartsAreApart(t *testing.T) {
	needLocal(t)
	var starting sync.WaitGroup
	addrs := make([]string, 4)
	for i := range addrs {
		starting.Go(func() {
			s, err := Start(bounded(t), Config{Mode: "local"})
			if err != nil {
				t.Error(err)
				return
			}
			addrs[i] = s.Addr()
			if got := query[int](t, s.DSN("postgres"), "SELECT 1"); got != 1 {
				t.Errorf("%s answers %d", s.Addr(), got)
			}
			if err := s.Stop(bounded(t)); err != nil {
				t.Error(err)
			}
		})
	}
	starting.Wait()
	seen := map[string]bool{}
	for _, addr := range addrs {
		require.False(t, seen[addr], "two servers at %s", addr)
		seen[addr] = true
	}
}

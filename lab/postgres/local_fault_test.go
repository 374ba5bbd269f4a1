package postgres

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// prepared is a local server that is ready to run but does not run yet.
func prepared(t *testing.T) *local {
	t.Helper()
	needLocal(t)
	b, err := findBinaries(bounded(t))
	require.NoError(t, err)
	l := &local{binaries: b, say: progress(t)}
	_, err = l.prepare(bounded(t), Config{Progress: progress(t)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.stop(bounded(t))) })
	return l
}

func TestServerThatDiesAtStartShowsItsLog(t *testing.T) {
	l := prepared(t)
	require.NoError(t, os.Remove(filepath.Join(l.data(), "global/pg_control")))
	err := l.open(bounded(t))
	require.ErrorContains(t, err, "ended at once")
	require.ErrorContains(t, err, "could not find the database system", "its own last words")
}

func TestTakenPortIsToldFromOtherFaults(t *testing.T) {
	l := prepared(t)
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	l.port = taken.Addr().(*net.TCPAddr).Port
	require.ErrorIs(t, l.run(bounded(t)), errPortTaken)
	require.NoError(t, l.open(bounded(t)), "open takes another port")
	require.NotEqual(t, taken.Addr().(*net.TCPAddr).Port, l.port)
}

func TestDamagedCacheIsMadeAgain(t *testing.T) {
	l := prepared(t)
	shelf := t.TempDir()
	for dir := shelf; dir != os.TempDir(); dir = filepath.Dir(dir) {
		require.NoError(t, os.Chmod(dir, 0o711)) // the server's user passes through
	}
	var said []string
	say := func(line string) { said = append(said, line) }
	first, err := cachedCluster(bounded(t), shelf, l.binaries, l.as, say)
	require.NoError(t, err)
	again, err := cachedCluster(bounded(t), shelf, l.binaries, l.as, say)
	require.NoError(t, err)
	require.Equal(t, first.Password, again.Password)
	require.Len(t, said, 1, "made once")

	require.NoError(t, os.Remove(filepath.Join(first.data(), "postgresql.conf")))
	other, err := cachedCluster(bounded(t), shelf, l.binaries, l.as, say)
	require.NoError(t, err)
	require.NotEqual(t, first.Password, other.Password)
	require.Len(t, said, 2)
}

func TestFolderOfSomebodyElseIsRefused(t *testing.T) {
	parent := t.TempDir()
	require.NoError(t, os.Mkdir(basePath(parent), 0o777))
	require.NoError(t, os.Chmod(basePath(parent), 0o777))
	_, err := ownFolder(parent)
	require.ErrorContains(t, err, "is not a folder of ours alone")
	require.NoError(t, os.Remove(basePath(parent)))
	require.NoError(t, os.Symlink(t.TempDir(), basePath(parent)))
	_, err = ownFolder(parent)
	require.ErrorContains(t, err, "is not a folder of ours alone")
}

package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func TestEveryRunHasAFolderOfItsOwn(t *testing.T) {
	logs := filepath.Join(t.TempDir(), "logs")
	first, err := makeFolder(logs, 42, noon)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(logs, "20260102T120000Z-42"), first)
	second, err := makeFolder(logs, 42, noon)
	require.NoError(t, err)
	require.NotEqual(t, first, second)

	latest, err := filepath.EvalSymlinks(filepath.Join(logs, "latest"))
	require.NoError(t, err)
	require.Equal(t, filepath.Base(second), filepath.Base(latest))
}

func TestAFolderThatCannotBeMadeIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	_, err := makeFolder(filepath.Join(file, "logs"), 1, noon)
	require.ErrorContains(t, err, "--logs")
}

func TestLatestThatIsSomebodysFolderIsLeftAlone(t *testing.T) {
	logs := t.TempDir()
	kept := filepath.Join(logs, "latest", "kept")
	require.NoError(t, os.MkdirAll(kept, 0o755))
	_, err := makeFolder(logs, 1, noon)
	require.ErrorContains(t, err, "latest")
	require.DirExists(t, kept)
	left, err := filepath.Glob(filepath.Join(logs, ".latest*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestTheModuleIsFoundFromAnyFolderInIt(t *testing.T) {
	t.Setenv("LAB_ROOT", "")
	root, err := findModule()
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(root, "run_lab.sh"))
	t.Chdir(t.TempDir())
	_, err = findModule()
	require.ErrorContains(t, err, "run_lab.sh")
}

func TestTheLatestRunIsFoundByLinkAndByName(t *testing.T) {
	logs := t.TempDir()
	require.Empty(t, latestRun(logs))
	dir, err := makeFolder(logs, 7, time.Now())
	require.NoError(t, err)
	require.Equal(t, dir, latestRun(logs))

	latest := filepath.Join(logs, "latest")
	require.NoError(t, os.Remove(latest))
	require.NoError(t, os.WriteFile(latest, []byte(filepath.Base(dir)+"\n"), 0o644))
	require.Equal(t, dir, latestRun(logs))
	require.NoError(t, os.RemoveAll(dir))
	require.Empty(t, latestRun(logs))
}

package postgres

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bounded is a context that ends before the test binary's own deadline would hide the reason.
func bounded(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// startLocalServer gives a server from local binaries, or skips where none are installed.
func startLocalServer(t testing.TB, profile Profile) *Server {
	t.Helper()
	ctx := bounded(t)
	if _, err := findBinaries(ctx); err != nil {
		t.Skip("not run: ", err)
	}
	s, err := Start(ctx, Config{Mode: "local", Profile: profile, Progress: progress(t)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop(bounded(t))) })
	return s
}

func progress(t testing.TB) func(string) { return func(line string) { t.Log(line) } }

// exists tells whether a file or folder is there.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

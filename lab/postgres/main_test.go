package postgres

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// childRole makes this test binary play another process of the lab; see children below.
const childRole = "WEBHOOKLAB_TEST_CHILD"

func TestMain(m *testing.M) {
	if role := os.Getenv(childRole); role != "" {
		if err := playChild(role); err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// playChild does what a role says, tells a line on standard output, and then waits for its
// standard input to be closed.
func playChild(role string) error {
	ctx, cancel := context.WithTimeout(context.Background(), childBound)
	defer cancel()
	play, known := map[string]func(context.Context) (string, *Server, error){
		"own":    childOwns,
		"attach": childAttaches,
		"crash":  childCrashes,
		"box":    childOwnsContainer,
		"given":  childOwnsGiven,
	}[role]
	if !known {
		return fmt.Errorf("no role %q", role)
	}
	said, s, err := play(ctx)
	if err != nil {
		return err
	}
	fmt.Println(said)
	bufio.NewReader(os.Stdin).ReadString('\n')
	stopping, cancel := context.WithTimeout(context.Background(), childBound)
	defer cancel()
	return s.Stop(stopping)
}

// childBound is how long a child may take to start or to stop, on a machine under load.
const childBound = 2 * time.Minute

// child is another process of the lab, and the first line it said.
type child struct {
	cmd  *exec.Cmd
	said string
	let  func() error // lets it stop its server and end
}

func startChild(t *testing.T, role string, env ...string) child {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), childRole+"="+role), env...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	require.NotContains(t, line, "failed")
	return child{cmd, strings.TrimSpace(line), func() error {
		stdin.Close()
		return cmd.Wait()
	}}
}

// bounded is a context that ends before the test binary's own deadline would hide the reason.
func bounded(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// needLocal skips a test where no server is installed, with the reason.
func needLocal(t testing.TB) {
	t.Helper()
	if _, err := findBinaries(bounded(t)); err != nil {
		t.Skip("not run: ", err)
	}
}

// startLocalServer gives a server from local binaries, or skips where none are installed.
func startLocalServer(t testing.TB, profile Profile) *Server {
	t.Helper()
	needLocal(t)
	s, err := Start(bounded(t), Config{Mode: "local", Profile: profile, Progress: progress(t)})
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

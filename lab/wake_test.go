package lab_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"webhooklab/lab/postgres"
	"webhooklab/scenarios"
)

// freezing makes the test binary stop the backend of this pid and be killed.
const freezing = "LAB_TEST_FREEZE"

func freezeAndDie(pid string) {
	n, err := strconv.ParseUint(pid, 10, 32)
	server, startErr := postgres.Start(context.Background(), postgres.Config{})
	if err = errors.Join(err, startErr); err == nil {
		err = server.Freeze(uint32(n))
	}
	if err == nil {
		err = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(2)
}

// Backends that a lab had stopped when it was killed go on at the next start.
func TestStoppedBackendsAreContinued(t *testing.T) {
	if err := stage.Server().Can(postgres.Signal); err != nil {
		t.Skip(err.Error())
	}
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("the state of processes is read from /proc")
	}
	b := explorer(t, scenarios.Snapshots)
	conn, err := pgx.Connect(t.Context(), b.Database.DSN())
	require.NoError(t, err)
	defer conn.Close(context.Background())
	pid := conn.PgConn().PID()

	t.Setenv("TMPDIR", t.TempDir()) // whatever else starts on this machine continues it as well
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), freezing+"="+fmt.Sprint(pid),
		"LAB_SERVER_HANDOVER="+stage.Server().Handover())
	var died *exec.ExitError
	require.ErrorAs(t, cmd.Run(), &died)
	require.False(t, died.Exited(), "it was killed, and did not end by itself")
	require.Eventually(t, func() bool { return processState(t, pid) == "T" },
		10*time.Second, time.Millisecond, "the backend is stopped as soon as it has a processor")

	t.Setenv("LAB_SERVER_HANDOVER", stage.Server().Handover())
	_, err = postgres.Start(t.Context(), postgres.Config{})
	require.NoError(t, err)

	var one int
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT 1").Scan(&one))
}

// processState is the letter of /proc/PID/stat.
func processState(t *testing.T, pid uint32) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(text), ") ")
	return rest[:1]
}

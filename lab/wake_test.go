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

	"webhooklab/lab"
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

// Who sleeps until a lock is his is told from who does anything else: only there a backend is stopped
// without harm. Elsewhere it may hold, or stand in the queue for, what others need, which no row of
// the lock table shows.
func TestSleepersAreTold(t *testing.T) {
	b := explorer(t, scenarios.Snapshots)
	ctx := t.Context()
	connect := func() (*pgx.Conn, uint32) {
		conn, err := pgx.Connect(ctx, b.Database.DSN())
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		return conn, conn.PgConn().PID()
	}
	holder, holderPID := connect()
	waiter, waiterPID := connect()
	const lock = "SELECT pg_advisory_lock(7)"
	_, err := holder.Exec(ctx, lock)
	require.NoError(t, err)
	waited := make(chan error, 1)
	go func() { _, err := waiter.Exec(ctx, lock); waited <- err }()
	require.Eventually(t, func() bool {
		asleep, err := lab.Asleep(ctx, b.Database.DSN(), waiterPID)
		return err == nil && asleep
	}, 30*time.Second, time.Millisecond)

	asleep, err := lab.Asleep(ctx, b.Database.DSN(), waiterPID, holderPID)
	require.NoError(t, err)
	require.False(t, asleep, "the holder waits for its client")
	require.NoError(t, holder.Close(ctx))
	require.NoError(t, <-waited)
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

// A step that does not end while backends are stopped has them let go: who is stopped may hold up
// others by what no lock shows. The run is none of the tree's, and is tried again.
func TestWhatHoldsUpEverybodyIsLetGo(t *testing.T) {
	if err := stage.Server().Can(postgres.Signal); err != nil {
		t.Skip(err.Error())
	}
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("the state of processes is read from /proc")
	}
	b, err := stage.Bench(context.Background(), postgres.Fast,
		scenarios.Explorable(scenarios.SnapshotSuite),
		scenarios.Options{Seed: 7, Bound: 9 * time.Second, Alter: commitsWait, Alone: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close(context.Background())) }()

	program, explored := of(t, "three_copies"), make(chan lab.Explored, 1)
	go func() {
		explored <- b.Explore(t.Context(), lab.Exploration{Program: program, Whole: true})
	}()
	conn, err := pgx.Connect(t.Context(), b.Database.DSN())
	require.NoError(t, err)
	defer conn.Close(context.Background())
	require.Eventually(t, func() bool { return stopped(t, conn, true) > 1 },
		20*time.Second, time.Millisecond)
	require.Eventually(t, func() bool { return stopped(t, conn, false) == 0 },
		20*time.Second, time.Millisecond)
	_, err = conn.Exec(t.Context(), "INSERT INTO let_go DEFAULT VALUES")
	require.NoError(t, err)

	e := <-explored
	require.Equal(t, lab.VerdictValid, e.Verdict, "%v", e.Failures)
	require.True(t, e.Complete())
	require.Positive(t, e.Outrun)
}

// commitsWait has a commit for which two others wait hold them up until there is a row.
const commitsWait = `
CREATE TABLE let_go (at timestamptz DEFAULT now());
CREATE FUNCTION wait_to_be_let_go() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	WHILE (SELECT count(*) FROM pg_locks WHERE NOT granted) > 1
		AND NOT EXISTS (SELECT FROM let_go) LOOP
		PERFORM pg_sleep(0.005);
	END LOOP;
	RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER commits_wait AFTER INSERT ON object_state
	DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait_to_be_let_go();`

// stopped counts the backends of the database that are; with commits none unless one commits.
func stopped(t *testing.T, conn *pgx.Conn, commits bool) (n int) {
	t.Helper()
	rows, err := conn.Query(t.Context(), `
SELECT pid
  FROM pg_stat_activity
 WHERE datname = current_database()
   AND (NOT $1 OR EXISTS (
	SELECT
	  FROM pg_stat_activity
	 WHERE datname = current_database() AND state = 'active' AND query ILIKE 'commit'))`, commits)
	require.NoError(t, err)
	pids, err := pgx.CollectRows(rows, pgx.RowTo[uint32])
	require.NoError(t, err)
	for _, pid := range pids {
		if processState(t, pid) == "T" {
			n++
		}
	}
	return n
}

// processState is the letter of /proc/PID/stat.
func processState(t *testing.T, pid uint32) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(text), ") ")
	return rest[:1]
}

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A run of the real command, as a process of its own, with tests in it that would go on for hours.
type longRun struct {
	cmd    *exec.Cmd
	logs   string
	family []int // the command and all its descendants, when its tests were running
}

func startLongRun(t *testing.T) *longRun {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts a server and the whole chain of tests")
	}
	lab := filepath.Join(t.TempDir(), "lab")
	built, err := exec.Command("go", "build", "-o", lab, ".").CombinedOutput()
	require.NoError(t, err, string(built))
	r := &longRun{logs: t.TempDir()}
	out, err := os.Create(filepath.Join(r.logs, "out.txt"))
	require.NoError(t, err)
	defer out.Close()
	r.cmd = exec.Command(lab, "run", "--logs", r.logs, "--loops", "1000000",
		"--scenario", "^retry_during_commit$")
	r.cmd.Stdout, r.cmd.Stderr = out, out
	require.NoError(t, r.cmd.Start())
	t.Cleanup(func() { r.cmd.Process.Kill() })
	// Other processes tell of themselves only to those who look.
	testsRun := func() bool {
		r.family = descendants(r.cmd.Process.Pid)
		return slices.ContainsFunc(r.family, func(pid int) bool {
			return strings.Contains(commandLine(pid), "scenarios.test")
		})
	}
	over := func() bool { return testsRun() || commandLine(r.cmd.Process.Pid) == "" }
	require.Eventually(t, over, 5*time.Minute, 20*time.Millisecond, "the tests did not start")
	require.True(t, testsRun(), "the command ended before its tests began: %s", r.told(t))
	return r
}

// told is what the command has said so far.
func (r *longRun) told(t *testing.T) string {
	text, err := os.ReadFile(filepath.Join(r.logs, "out.txt"))
	require.NoError(t, err)
	return string(text)
}

// gone waits until nothing of the run is left.
func (r *longRun) gone(t *testing.T, bound time.Duration) {
	t.Helper()
	left := func() (all []string) {
		for _, pid := range r.family {
			if line := commandLine(pid); line != "" {
				all = append(all, fmt.Sprint(pid, " ", line))
			}
		}
		return all
	}
	none := func() bool { return len(left()) == 0 }
	if !assert.Eventually(t, none, bound, 20*time.Millisecond) {
		t.Fatalf("still there: %q", left())
	}
}

func TestAfterSIGKILLNeitherServerNorTestIsLeft(t *testing.T) {
	r := startLongRun(t)
	require.NoError(t, r.cmd.Process.Kill())
	r.cmd.Wait()
	r.gone(t, 5*time.Second)
}

func TestAnInterruptedRunStopsEverythingAndSaysSo(t *testing.T) {
	r := startLongRun(t)
	require.NoError(t, r.cmd.Process.Signal(syscall.SIGTERM))
	r.cmd.Wait()
	require.Equal(t, 2, r.cmd.ProcessState.ExitCode(), r.told(t))
	require.Contains(t, r.told(t), "UNKNOWN: the run was interrupted.")
	r.gone(t, time.Second)
	summary, err := os.ReadFile(filepath.Join(r.logs, "latest", "summary.txt"))
	require.NoError(t, err)
	require.Contains(t, string(summary), "PostgreSQL")
}

// descendants are pid and all processes below it.
func descendants(pid int) []int {
	parents := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		parent, _ := strconv.Atoi(fields[1])
		child, _ := strconv.Atoi(strings.Split(file, "/")[2])
		parents[parent] = append(parents[parent], child)
	}
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		all = append(all, parents[all[i]]...)
	}
	return all
}

// commandLine is empty for a process that is gone, a zombie included.
func commandLine(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.TrimSpace(strings.ReplaceAll(string(text), "\x00", " "))
}

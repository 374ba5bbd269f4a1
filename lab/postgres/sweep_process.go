package postgres

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// postmasterOf is the live process that postmaster.pid names, 0 when there is none. The number
// may since have gone to a stranger, so its command line must name this data directory.
func postmasterOf(data string) int {
	pid, err := strconv.Atoi(pidFileLine(data, 1))
	if err != nil || !strings.Contains(commandLine(pid)+" ", " -D "+data+" ") {
		return 0
	}
	return pid
}

// pidFileLine is one line of postmaster.pid, counted from 1, empty when it is not there. Line 1 is
// the process id, 7 the key and id of the shared memory, 8 what the server is doing.
func pidFileLine(data string, line int) string {
	text, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		return ""
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) < line {
		return ""
	}
	return strings.TrimSpace(lines[line-1])
}

// endPostmaster stops a server that is not our child, with stopped backends continued first:
// they hold locks, and the postmaster would wait for them.
func endPostmaster(pid int) {
	family := children(pid)
	for _, child := range family {
		syscall.Kill(child, syscall.SIGCONT)
	}
	syscall.Kill(pid, syscall.SIGQUIT)
	gone := func() bool { return !alive(pid) }
	if await(context.Background(), stopBound, gone) {
		return
	}
	syscall.Kill(pid, syscall.SIGKILL)
	for _, child := range family {
		syscall.Kill(child, syscall.SIGKILL)
	}
	await(context.Background(), stopBound, gone)
}

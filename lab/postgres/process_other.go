//go:build !linux

package postgres

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// process describes a child in a session of its own, away from the terminal's Ctrl-C, that runs
// as the server's user.
func (r runAs) process() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Credential: r.credential}
}

// dieWithParent does nothing: only Linux can. The next start sweeps what we leave.
func dieWithParent(*syscall.SysProcAttr) {}

// children are the live processes whose parent is pid.
func children(pid int) []int {
	var found []int
	for _, line := range processTable("pid=,ppid=,stat=") {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[2][0] == 'Z' || fields[1] != strconv.Itoa(pid) {
			continue
		}
		if child, err := strconv.Atoi(fields[0]); err == nil {
			found = append(found, child)
		}
	}
	return found
}

// alive tells whether pid runs; a zombie is gone.
func alive(pid int) bool {
	lines := processTable("stat=", "-p", strconv.Itoa(pid))
	return len(lines) > 0 && lines[0] != "" && lines[0][0] != 'Z'
}

// goesOn tells whether pid is there and not stopped.
func goesOn(pid int) bool {
	lines := processTable("stat=", "-p", strconv.Itoa(pid))
	return len(lines) > 0 && lines[0] != "" && !strings.Contains("TZ", lines[0][:1])
}

// commandLine is the process's arguments joined by spaces, empty when it is gone.
func commandLine(pid int) string {
	return strings.Join(processTable("command=", "-p", strconv.Itoa(pid)), " ")
}

func processTable(columns string, more ...string) []string {
	args := append([]string{"-ww", "-o", columns}, more...)
	if len(more) == 0 {
		args = append(args, "-ax")
	}
	out, err := exec.Command("ps", args...).Output()
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// strays can't be told from other servers' processes without /proc; they end by themselves when
// they see that their postmaster is gone.
func strays(string) []int { return nil }

// namespace is empty: there are none.
func namespace() string { return "" }

// startTime is when a process started, as ps writes it, in one word; empty when it is gone.
func startTime(pid int) string {
	words := strings.Fields(strings.Join(processTable("lstart=", "-p", strconv.Itoa(pid)), " "))
	return strings.Join(words, "_")
}

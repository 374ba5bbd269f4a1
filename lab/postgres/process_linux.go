package postgres

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// process describes a child in a session of its own, away from the terminal's Ctrl-C, that runs
// as the server's user.
func (r runAs) process() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Credential: r.credential}
}

// dieWithParent lets the kernel send SIGQUIT to the child when the thread that forked it ends.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGQUIT }

// children are the live processes whose parent is pid.
func children(pid int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var found []int
	for _, entry := range entries {
		child, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if state, parent := processState(child); parent == pid && state != 'Z' && state != 'X' {
			found = append(found, child)
		}
	}
	return found
}

// alive tells whether pid runs; a zombie is gone.
func alive(pid int) bool {
	state, _ := processState(pid)
	return state != 0 && state != 'Z' && state != 'X'
}

// goesOn tells whether pid is there and not stopped.
func goesOn(pid int) bool {
	state, _ := processState(pid)
	return state != 'T' && alive(pid)
}

// processState reads /proc/PID/stat: "pid (name) state parent ...". State 0: no such process.
func processState(pid int) (state byte, parent int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 2 {
		return 0, 0
	}
	parent, _ = strconv.Atoi(fields[1])
	return fields[0][0], parent
}

// commandLine is the process's arguments joined by spaces, empty when it is gone.
func commandLine(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.ReplaceAll(strings.TrimRight(string(text), "\x00"), "\x00", " ")
}

// strays are the server processes that work in a data directory whatever their parent: backends
// that were stopped when their postmaster was killed live on, with its shared memory.
func strays(data string) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var found []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || !alive(pid) {
			continue
		}
		cwd, err := os.Readlink("/proc/" + entry.Name() + "/cwd")
		if err == nil && cwd == data && strings.HasPrefix(commandLine(pid), "postgres: ") {
			found = append(found, pid)
		}
	}
	return found
}

// namespace tells process namespaces of one host apart: a number means nothing across them.
func namespace() string {
	link, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return "/" + link
}

// startTime is when a process started, in clock ticks since boot and with the boot's id; empty
// when it is gone.
func startTime(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// Field 22, counted from 1; what follows the name begins with field 3.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return ""
	}
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return fields[19] + "@" + strings.TrimSpace(string(boot))
}

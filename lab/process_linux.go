package lab

import "syscall"

// ownGroup puts a program into a process group of its own, away from the terminal's Ctrl-C, and
// lets the kernel kill it when the thread that forked it ends.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

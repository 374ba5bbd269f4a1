//go:build !linux

package lab

import "syscall"

// ownGroup puts a program into a process group of its own, away from the terminal's Ctrl-C. That it
// ends when we die is left to the end of its standard input.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

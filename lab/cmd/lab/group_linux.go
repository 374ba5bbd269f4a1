package main

import (
	"os/exec"
	"runtime"
	"syscall"
)

// startTied starts the command so that it dies with us even before the warden knows it. The
// kernel ties it to the thread that forks, so that thread must be one that lives as long as we do.
func startTied(cmd *exec.Cmd) error {
	runtime.LockOSThread()
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	return cmd.Start()
}

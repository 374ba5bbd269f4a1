package main

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
)

// A group is a child with all its descendants. It never outlives us: a warden, in a session of its
// own, kills the whole group as soon as we are gone without having said that the group has ended,
// by SIGKILL as well. Test binaries are grandchildren's children, so no signal bound to a parent
// would reach them all.
type group struct {
	id     int
	line   io.WriteCloser // to the warden: the group's id, then a word when it has ended
	warden *exec.Cmd
}

// warden reads two lines. Without the second one nobody else is left to end the group.
const warden = `read -r group || exit 0; read -r ended || kill -s KILL -- "-$group"`

// startGroup starts the command in a process group of its own, under a warden. Cancelling the
// command's context interrupts the whole group.
func startGroup(cmd *exec.Cmd) (*group, error) {
	g := &group{warden: exec.Command("/bin/sh", "-c", warden)}
	g.warden.Dir, g.warden.Env = "/", []string{}
	g.warden.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	line, err := g.warden.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("watch over the tests: %w", err)
	}
	if err := g.warden.Start(); err != nil {
		return nil, fmt.Errorf("watch over the tests: start %s: %w", g.warden.Path, err)
	}
	g.line = line
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	err = startTied(cmd)
	if err == nil {
		g.id = cmd.Process.Pid
		_, err = fmt.Fprintln(line, g.id)
	}
	if err != nil {
		return nil, errors.Join(err, g.close())
	}
	return g, nil
}

// end kills what is left of the group and lets the warden go. The command was waited for.
func (g *group) end() {
	syscall.Kill(-g.id, syscall.SIGKILL)
	fmt.Fprintln(g.line, "ended")
	g.close()
}

func (g *group) close() error {
	return errors.Join(g.line.Close(), g.warden.Wait())
}

package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// postmaster is one run of the server program.
type postmaster struct {
	pid     int
	done    chan struct{} // closed when the program has ended
	err     error         // how it ended; read after done
	abandon chan struct{} // closed when nobody shall wait any longer; nil: we always wait
}

// launch starts the program so that it dies with us. The thread that forks must live as long as
// the child, or the kernel would take the end of the thread for our death: so it belongs to one
// goroutine that forks, waits and then ends together with it.
func launch(cmd *exec.Cmd) (*postmaster, error) {
	p := &postmaster{done: make(chan struct{})}
	dieWithParent(cmd.SysProcAttr)
	return p, p.start(cmd, func() error { return cmd.Wait() })
}

// launchKept starts the program so that it can outlive us.
func launchKept(cmd *exec.Cmd) (*postmaster, error) {
	p := &postmaster{done: make(chan struct{}), abandon: make(chan struct{})}
	return p, p.start(cmd, func() error { return p.watch(cmd) })
}

func (p *postmaster) start(cmd *exec.Cmd, wait func() error) error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		err := cmd.Start()
		if err == nil {
			p.pid = cmd.Process.Pid
		}
		started <- err
		if err == nil {
			p.err = wait()
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return nil
}

// watch waits for the program in a way that can be given up.
func (p *postmaster) watch(cmd *exec.Cmd) error {
	defer cmd.Process.Release()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		var status syscall.WaitStatus
		if pid, _ := syscall.Wait4(p.pid, &status, syscall.WNOHANG, nil); pid == p.pid {
			return fmt.Errorf("exit status %d", status.ExitStatus())
		}
		select {
		case <-tick.C:
		case <-p.abandon:
			return nil
		}
	}
}

// ended tells whether the program has ended.
func (p *postmaster) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// quit ends the program at once and waits for it. Stopped backends go on first, because the
// postmaster would wait for them. What has not left within the bound is killed.
func (p *postmaster) quit(bound time.Duration) error {
	if p.ended() {
		return nil
	}
	for _, child := range children(p.pid) {
		syscall.Kill(child, syscall.SIGCONT)
	}
	syscall.Kill(p.pid, syscall.SIGQUIT)
	select {
	case <-p.done:
		return nil
	case <-time.After(bound):
		return p.kill()
	}
}

// killBound is long: a process that waits for its disk dies only when that has answered.
const killBound = time.Minute

// kill ends postmaster and children by SIGKILL and returns when all are gone. The postmaster is
// stopped first, so that no child is born after the look at its children.
func (p *postmaster) kill() error {
	if p.ended() {
		return nil
	}
	syscall.Kill(p.pid, syscall.SIGSTOP)
	family := children(p.pid)
	syscall.Kill(p.pid, syscall.SIGKILL)
	for _, child := range family {
		syscall.Kill(child, syscall.SIGKILL)
	}
	<-p.done
	gone := func() bool { return !slices.ContainsFunc(family, alive) }
	if !await(context.Background(), killBound, gone) {
		return fmt.Errorf("kill the server: some of its processes %v survive SIGKILL for %v; "+
			"is its disk stuck?", family, killBound)
	}
	return nil
}

// await asks until the answer is yes, the bound is over or the context is done: for news that
// other processes don't send. The answer is the last one.
func await(ctx context.Context, bound time.Duration, happened func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !happened() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return happened()
		}
	}
	return true
}

// freePort picks a port that nobody listens on, below the range from which systems take the ports
// of outgoing connections: there, our port could be gone between a kill and the restart.
func freePort(random func(int) int) (int, error) {
	for range 50 {
		port := 20000 + random(10000)
		if !portTaken(port) {
			return port, nil
		}
	}
	return 0, errors.New("find a free port from 20000 to 29999: 50 tries failed")
}

// errPortTaken says that somebody else listens where the server should.
var errPortTaken = errors.New("the port is taken")

func portTaken(port int) bool {
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return true
	}
	l.Close()
	return false
}

package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// startBound is how long a server may take to accept connections, crash recovery included.
const startBound = time.Minute

// stopBound is how long a server may take to end after SIGQUIT before it is killed.
const stopBound = 6 * time.Second

// local is a server that runs from this machine's own binaries, as a child of this process.
type local struct {
	binaries binaries
	as       runAs
	profile  Profile
	dir      string
	port     int
	log      *os.File
	held     *os.File // the folder's lock
	now      *postmaster
	kept     bool // by LAB_KEEP=1
	say      func(string)
	url      string // for the user who keeps the server
}

// startLocal starts a server from local binaries in a folder of its own.
func startLocal(ctx context.Context, cfg Config) (*Server, error) {
	b, err := findBinaries(ctx)
	if err != nil {
		return nil, err
	}
	sweepLocal(cfg.Progress)
	l := &local{binaries: b, profile: cfg.Profile, say: cfg.Progress}
	password, err := l.prepare(ctx, cfg)
	if err == nil {
		err = l.open(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, l.discard())
	}
	s := newServer(cfg)
	s.engine, s.kind = l, "local"
	s.addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(l.port))
	s.url = localURL(s.addr, password)
	s.origin = "local binary " + b.postgres()
	s.readLog = l.readLog
	s.socket = l.socket()
	l.url = s.DSN(s.base)
	if err := s.inspect(ctx); err != nil {
		return nil, errors.Join(err, l.stop(ctx))
	}
	return s, nil
}

// prepare makes the folder, its data and its log, and returns the superuser's password.
func (l *local) prepare(ctx context.Context, cfg Config) (password string, err error) {
	if l.as, err = findRunAs(); err != nil {
		return "", err
	}
	base, err := baseFolder(cfg.Profile, l.as)
	if err != nil {
		return "", err
	}
	shelf, err := baseFolder(Durable, l.as)
	if err != nil {
		shelf = base // no disk: the cache lives where the server does
	}
	c, err := cachedCluster(ctx, shelf, l.binaries, l.as, cfg.Progress)
	if err != nil {
		return "", err
	}
	id := newSecret()[:12]
	if l.dir, l.held, err = serverFolder(base, id); err != nil {
		return "", err
	}
	if l.log, err = createLog(firstNonEmpty(cfg.LogDir, l.dir), id); err != nil {
		return "", err
	}
	return c.Password, copyTree(c.data(), l.data(), l.as)
}

func (l *local) data() string { return filepath.Join(l.dir, "data") }

// socket is the path of the server's Unix socket, "" when the system takes none so long.
func (l *local) socket() string {
	path := filepath.Join(l.data(), ".s.PGSQL."+strconv.Itoa(l.port))
	if len(path) > maxSocketPath || strings.ContainsAny(path, ",\" ") {
		return ""
	}
	return path
}

// maxSocketPath is what the shortest limit of the systems leaves, in bytes: macOS has 104.
const maxSocketPath = 103

// open starts the server on a free port, and on another one when somebody else was faster.
func (l *local) open(ctx context.Context) (err error) {
	for range 5 {
		if l.port, err = freePort(rand.IntN); err != nil {
			return err
		}
		if err = l.run(ctx); !errors.Is(err, errPortTaken) {
			return err
		}
	}
	return err
}

// run starts the program and waits until it accepts connections.
func (l *local) run(ctx context.Context) error {
	args := []string{"-D", l.data(), "-p", strconv.Itoa(l.port), "-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories="}
	if path := l.socket(); path != "" {
		args[len(args)-1] += filepath.Dir(path)
	}
	for _, setting := range settings(l.profile, runtime.GOOS == "linux") {
		args = append(args, "-c", setting)
	}
	cmd := exec.Command(l.binaries.postgres(), args...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = l.data(), serverEnvironment(), l.as.process()
	cmd.Stdout, cmd.Stderr = l.log, l.log
	start := launch
	if keepRequested() {
		start = launchKept
	}
	p, err := start(cmd)
	if err != nil {
		return err
	}
	l.now = p
	ready := func() bool { return p.ended() || l.ready() }
	if await(ctx, startBound, ready) && !p.ended() {
		return nil
	}
	return l.failed(ctx)
}

// ready tells whether the server says so itself; a killed one left its word in the same file.
func (l *local) ready() bool {
	return pidFileLine(l.data(), 1) == strconv.Itoa(l.now.pid) &&
		pidFileLine(l.data(), 8) == "ready"
}

// failed says why the program did not become ready, and ends it.
func (l *local) failed(ctx context.Context) error {
	died := l.now.ended()
	l.now.quit(stopBound)
	tail := logTail(l.log.Name(), 20)
	switch {
	case died && portTaken(l.port):
		return fmt.Errorf("start %s on port %d: %w\n%s",
			l.binaries.postgres(), l.port, errPortTaken, tail)
	case died:
		return fmt.Errorf("start %s: it ended at once (%v); its log ends with:\n%s",
			l.binaries.postgres(), l.now.err, tail)
	case ctx.Err() != nil:
		return fmt.Errorf("start %s: %w; its log ends with:\n%s",
			l.binaries.postgres(), context.Cause(ctx), tail)
	}
	return fmt.Errorf("start %s: not ready after %s; its log ends with:\n%s",
		l.binaries.postgres(), startBound, tail)
}

func (l *local) kill(context.Context) error {
	return l.now.kill()
}

// restart retries within its bound: a child that outlived the kill by a moment still holds the
// shared memory, and the port may linger.
func (l *local) restart(ctx context.Context) error {
	if !l.now.ended() {
		return fmt.Errorf("restart the server on port %d: it still runs; Kill it first", l.port)
	}
	ctx, cancel := context.WithTimeout(ctx, startBound)
	defer cancel()
	var err error
	again := func() bool {
		err = l.run(ctx)
		return err == nil
	}
	await(ctx, 5*time.Second, again)
	return err
}

func (l *local) stop(context.Context) error {
	running := l.now != nil && !l.now.ended()
	switch {
	case l.kept:
		return nil
	case running && keepRequested() && l.now.abandon != nil:
		return l.keep()
	case running:
		return errors.Join(l.now.quit(stopBound), l.discard())
	}
	return l.discard()
}

// keep leaves the server running, exempts it from sweeps and says how to reach and remove it.
func (l *local) keep() error {
	remove := fmt.Sprintf("kill -QUIT %d; rm -rf %s", l.now.pid, l.dir)
	err := os.WriteFile(filepath.Join(l.dir, keepFile), []byte(remove+"\n"), 0o600)
	if err != nil {
		return fmt.Errorf("keep the server: %w", err)
	}
	l.say("kept (LAB_KEEP=1): " + l.url + "\nremove it: " + remove)
	l.kept = true
	close(l.now.abandon)
	<-l.now.done
	l.log.Close()
	return l.held.Close()
}

// discard removes the folder; the lock goes last, so that no sweep meets us half way.
func (l *local) discard() error {
	if l.log != nil {
		l.log.Close()
	}
	if l.held == nil {
		return nil
	}
	freeSharedMemory(l.data())
	err := os.RemoveAll(l.dir)
	l.held.Close()
	if err != nil {
		return fmt.Errorf("remove the server's folder: %w; remove it by hand", err)
	}
	return nil
}

func (l *local) readLog() (string, error) {
	text, err := os.ReadFile(l.log.Name())
	if err != nil {
		return "", fmt.Errorf("read the server's log: %w", err)
	}
	return string(text), nil
}

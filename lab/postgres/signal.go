package postgres

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Freeze stops one backend by SIGSTOP until Thaw, and returns when it has stopped. The caller must
// know that it sleeps until a lock of the lock table is its: stopped elsewhere, it may hold what the
// whole server needs. Should this process die first, the next start of a server by the lab continues
// it, and so does the server's own stop.
func (s *Server) Freeze(pid uint32) error {
	if err := s.Can(Signal); err != nil {
		return err
	}
	if err := frozen.note(pid); err != nil {
		return err
	}
	if err := signalBackend(pid, syscall.SIGSTOP); err != nil {
		return err
	}
	// The signal waits until the process has a processor: what is asked before is not yet true.
	for range 100 { // it seldom takes longer than a few looks
		if !goesOn(int(pid)) {
			return nil
		}
	}
	if !await(context.Background(), stopBound, func() bool { return !goesOn(int(pid)) }) {
		return fmt.Errorf("backend %d got SIGSTOP and did not stop within %v: the machine is busy "+
			"with something else", pid, stopBound)
	}
	return nil
}

// Thaw continues a backend by SIGCONT. One that is gone needs nothing.
func (s *Server) Thaw(pid uint32) error {
	if err := s.Can(Signal); err != nil {
		return err
	}
	return signalBackend(pid, syscall.SIGCONT)
}

func signalBackend(pid uint32, signal syscall.Signal) error {
	if !isBackend(int(pid)) {
		return nil
	}
	if err := syscall.Kill(int(pid), signal); err != nil && err != syscall.ESRCH {
		return fmt.Errorf("%v to backend %d: %w", signal, pid, err)
	}
	return nil
}

// isBackend: the process is one of PostgreSQL's, as far as this system can tell.
func isBackend(pid int) bool {
	return strings.HasPrefix(commandLine(pid), "postgres: ")
}

// frozen notes the backends that this process has ever stopped, in a file that outlives it.
var frozen = &frostbook{}

type frostbook struct {
	mu   sync.Mutex
	seen map[uint32]bool
	file *os.File
}

func frostDir() string { return filepath.Join(os.TempDir(), "webhooklab-frozen") }

func (b *frostbook) note(pid uint32) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.seen[pid] {
		return nil
	}
	if b.file == nil {
		if err := b.open(); err != nil {
			return fmt.Errorf("note which backends are stopped: %w", err)
		}
	}
	if _, err := fmt.Fprintln(b.file, pid); err != nil {
		return fmt.Errorf("note which backends are stopped: %w", err)
	}
	b.seen[pid] = true
	return nil
}

func (b *frostbook) open() (err error) {
	if err := os.MkdirAll(frostDir(), 0o777); err != nil {
		return err
	}
	name := filepath.Join(frostDir(), strconv.Itoa(os.Getpid()))
	b.file, err = os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	b.seen = map[uint32]bool{}
	return err
}

// thawOrphans continues the backends that a process of the lab had stopped when it died.
func thawOrphans() {
	notes, _ := filepath.Glob(filepath.Join(frostDir(), "*"))
	for _, note := range notes {
		owner, err := strconv.Atoi(filepath.Base(note))
		if err != nil || owner == os.Getpid() || alive(owner) {
			continue
		}
		text, err := os.ReadFile(note)
		if err != nil {
			continue // another user's
		}
		for _, field := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil && isBackend(pid) {
				syscall.Kill(pid, syscall.SIGCONT)
			}
		}
		os.Remove(note)
	}
}

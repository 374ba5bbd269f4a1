package postgres

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// errLocked says that the owner of a lock file is alive.
var errLocked = errors.New("locked by a living process")

// lock takes an exclusive lock on a file, creating it. The kernel frees it at any death of ours,
// and no child inherits it. Closing the file frees it too.
func lock(path string) (*os.File, error) { return flock(path, syscall.LOCK_EX) }

// tryLock is lock that returns errLocked at once when somebody else holds it.
func tryLock(path string) (*os.File, error) {
	return flock(path, syscall.LOCK_EX|syscall.LOCK_NB)
}

func flock(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	for {
		err = syscall.Flock(int(f.Fd()), how)
		if err != syscall.EINTR {
			break
		}
	}
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errLocked
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
}

package postgres

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// sweepLocal removes the servers whose owner died without stopping them. A server whose lock is
// held has a living owner, one with a keep file is the user's: both are left alone. Faults of a
// sweep never stop a start; they are said and tried again next time.
func sweepLocal(say func(string)) {
	for _, base := range everywhere() {
		dirs, _ := filepath.Glob(filepath.Join(base, "server-*"))
		for _, dir := range dirs {
			held, err := claimDead(base, dir)
			if err != nil {
				continue
			}
			say("removing the server that a dead run left in " + dir)
			if err := bury(dir); err != nil {
				say(err.Error())
			}
			held.Close()
		}
	}
}

// errKept says that the user asked for this server to stay.
var errKept = errors.New("kept by LAB_KEEP=1")

// claimDead takes the lock of a dead owner's folder. The base's lock makes it wait while a
// starting server has made its folder but not yet locked it.
func claimDead(base, dir string) (*os.File, error) {
	if err := checkOwn(base); err != nil {
		return nil, err
	}
	guard, err := lock(filepath.Join(base, "lock"))
	if err != nil {
		return nil, err
	}
	defer guard.Close()
	held, err := tryLock(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(filepath.Join(dir, keepFile)); err == nil {
		held.Close()
		return nil, errKept
	}
	return held, nil
}

// bury ends what still runs in a dead server's folder and removes the folder.
func bury(dir string) error {
	data := filepath.Join(dir, "data")
	if pid := postmasterOf(data); pid != 0 {
		endPostmaster(pid)
	}
	for _, pid := range strays(data) {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	freeSharedMemory(data)
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove the dead server %s: %w; remove it by hand", dir, err)
	}
	return nil
}

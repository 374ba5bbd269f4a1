package postgres

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// runAs is the user that local servers run as: ourselves, or somebody unprivileged when we are
// root, because PostgreSQL refuses to run as root.
type runAs struct {
	name       string
	uid, gid   int
	credential *syscall.Credential // nil: ourselves
}

// findRunAs takes postgres, else nobody, when we are root: the server looks its user up in the
// password database, so a bare number would not do.
func findRunAs() (runAs, error) {
	if os.Geteuid() != 0 {
		return runAs{name: "ourselves", uid: os.Geteuid(), gid: os.Getegid()}, nil
	}
	var failures []error
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		uid, _ := strconv.Atoi(found.Uid)
		gid, _ := strconv.Atoi(found.Gid)
		return runAs{
			name: name, uid: uid, gid: gid,
			credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)},
		}, nil
	}
	return runAs{}, fmt.Errorf("find a user to run PostgreSQL as, since it refuses root: %w; "+
		"create one: useradd --system postgres", errors.Join(failures...))
}

// own gives a file or folder to the server's user.
func (r runAs) own(path string) error {
	if r.credential == nil {
		return nil
	}
	return os.Lchown(path, r.uid, r.gid)
}

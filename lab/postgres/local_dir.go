package postgres

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// A server of ours lives in a folder of its own:
//
//	<folder>/webhooklab-<uid>/     ours alone, 0711: the server's user passes through, nobody reads
//	    lock                       taken while folders appear or are claimed by a sweep
//	    cache/<key>/               what initdb made, copied for each server
//	    server-<id>/lock           held for as long as the owner lives
//	    server-<id>/keep           exempts it from every sweep
//	    server-<id>/server.log
//	    server-<id>/data/          belongs to the server's user

// baseFolder is the folder of this user's servers: in memory for fast ones where the machine has
// room, on disk for durable ones.
func baseFolder(p Profile, as runAs) (string, error) {
	var failures []error
	for _, parent := range parents(p) {
		err := fitsServer(parent, p, as)
		if err == nil {
			var base string
			if base, err = ownFolder(parent); err == nil {
				return base, nil
			}
		}
		failures = append(failures, err)
	}
	return "", fmt.Errorf("find a folder for the server: %w; set TMPDIR to one that user %s "+
		"can pass through", errors.Join(failures...), as.name)
}

// roomy is the free memory, in bytes, from which on a fast server lives there: a clone takes
// 8 MB, and a full memory disk stops the server.
const roomy = 2 << 30

// parents are where a server of this profile may live, the best place first. On disk a clone can
// cost twenty times what it costs in memory.
func parents(p Profile) []string {
	folders := []string{os.TempDir(), "/tmp", "/var/tmp"}
	if p == Fast && inMemory(memoryFolder) && freeBytes(memoryFolder) >= roomy {
		folders = slices.Insert(folders, 0, memoryFolder)
	}
	return folders
}

const memoryFolder = "/dev/shm"

// everywhere are all places where this user's servers may lie.
func everywhere() []string {
	parents := []string{os.TempDir(), "/tmp", "/var/tmp", memoryFolder}
	slices.Sort(parents)
	var bases []string
	for _, parent := range slices.Compact(parents) {
		bases = append(bases, basePath(parent))
	}
	return bases
}

// keepFile marks a server that LAB_KEEP=1 keeps; it holds the way to remove it.
const keepFile = "keep"

// basePath is where ownFolder keeps this user's servers under a temporary folder.
func basePath(parent string) string {
	return filepath.Join(parent, fmt.Sprintf("webhooklab-%d", os.Geteuid()))
}

// ownFolder makes the folder, or checks that it is ours: in a shared /tmp somebody else could
// have put one there first.
func ownFolder(parent string) (string, error) {
	base := basePath(parent)
	if err := os.Mkdir(base, 0o711); err == nil {
		return base, os.Chmod(base, 0o711) // whatever the umask says
	} else if !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("make the servers' folder: %w", err)
	}
	return base, checkOwn(base)
}

// checkOwn tells why a folder is not ours alone.
func checkOwn(base string) error {
	info, err := os.Lstat(base)
	if err != nil {
		return fmt.Errorf("look at the servers' folder: %w", err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(stat.Uid) != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s is not a folder of ours alone (%s); remove it", base, info.Mode())
	}
	return nil
}

// fitsServer tells why a temporary folder can't hold a server.
func fitsServer(parent string, p Profile, as runAs) error {
	if p == Durable && inMemory(parent) {
		return fmt.Errorf("%s is in memory, and a durable server must not be", parent)
	}
	if as.credential == nil {
		return nil
	}
	for dir := filepath.Clean(parent); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return fmt.Errorf("look at %s: %w", dir, err)
		}
		if info.Mode().Perm()&0o001 == 0 {
			return fmt.Errorf("user %s cannot pass through %s (%s)", as.name, dir, info.Mode())
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// serverFolder makes a new server's folder and takes its lock. The base's lock covers the moment
// when the folder is there and its lock is not, which a sweep would take for a death.
func serverFolder(base, id string) (dir string, held *os.File, err error) {
	guard, err := lock(filepath.Join(base, "lock"))
	if err != nil {
		return "", nil, err
	}
	defer guard.Close()
	dir = filepath.Join(base, "server-"+id)
	if err := os.Mkdir(dir, 0o711); err != nil {
		return "", nil, fmt.Errorf("make the server's folder: %w", err)
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		return "", nil, fmt.Errorf("open the server's folder to its user: %w", err)
	}
	held, err = lock(filepath.Join(dir, "lock"))
	return dir, held, err
}

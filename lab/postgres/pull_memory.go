package postgres

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// pullMemory is how long a failed pull is remembered in auto mode: a run of many test binaries
// on a machine without a registry would pay for the same failure in each.
const pullMemory = 10 * time.Minute

// pullFailure is what the last pull of an image failed with, as long as that is news; else nil.
func pullFailure(image string, now time.Time) error {
	file, err := pullMemoryFile(image)
	if err != nil {
		return nil
	}
	info, err := os.Stat(file)
	if err != nil || now.Sub(info.ModTime()) > pullMemory {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	return fmt.Errorf("pull image %s: failed at %s (%s), and is tried again %s later; "+
		"at once with LAB_POSTGRES=container", image, info.ModTime().Format(time.TimeOnly), text,
		pullMemory)
}

// rememberPull notes how a pull ended. Nothing depends on the note being written.
func rememberPull(image string, failure error) {
	file, err := pullMemoryFile(image)
	switch {
	case err != nil:
	case failure == nil:
		os.Remove(file)
	default:
		os.WriteFile(file, []byte(failure.Error()), 0o600)
	}
}

func pullMemoryFile(image string) (string, error) {
	base, err := ownFolder(os.TempDir())
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(image))
	return filepath.Join(base, fmt.Sprintf("pull-failed-%x", sum[:6])), nil
}

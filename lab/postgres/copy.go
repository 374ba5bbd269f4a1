package postgres

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// measure counts the regular files below a folder and their bytes.
func measure(dir string) (files int, bytes int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		files++
		bytes += info.Size()
		return nil
	})
	return files, bytes, err
}

// copyTree copies a cluster's folders and files and gives the copies to the server's user.
func copyTree(from, to string, as runAs) error {
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rest, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rest)
		if entry.IsDir() {
			err = os.Mkdir(target, 0o700)
		} else {
			err = copyFile(path, target)
		}
		if err != nil {
			return err
		}
		return as.own(target)
	})
	if err != nil {
		return fmt.Errorf("copy the cluster %s to %s: %w", from, to, err)
	}
	return nil
}

// copyFile leaves the copying to the kernel where it can, which shares the blocks on file systems
// that know how.
func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(target, source); err != nil {
		target.Close()
		return err
	}
	return target.Close()
}

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// findModule is the folder of go.mod: LAB_ROOT, or the nearest one upwards from here.
func findModule() (string, error) {
	dir, err := os.Getenv("LAB_ROOT"), error(nil)
	if dir == "" {
		dir, err = os.Getwd()
	}
	if err != nil {
		return "", fmt.Errorf("find the project: %w", err)
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("find the project: no go.mod in %s or above; use run_lab.sh", dir)
		}
	}
}

// makeFolder makes logs/<UTC time>-<seed>, which nobody else has, and points logs/latest to it.
func makeFolder(logs string, seed uint64, now time.Time) (string, error) {
	logs, err := filepath.Abs(logs)
	if err == nil {
		err = os.MkdirAll(logs, 0o755)
	}
	if err != nil {
		return "", fmt.Errorf("make the folder for logs: %w; choose another with --logs", err)
	}
	stem := fmt.Sprintf("%s-%d", now.UTC().Format("20060102T150405Z"), seed)
	name := stem
	for n := 2; ; n++ {
		err := os.Mkdir(filepath.Join(logs, name), 0o755)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("make the run's folder: %w; choose another with --logs", err)
		}
		name = fmt.Sprintf("%s.%d", stem, n)
	}
	dir := filepath.Join(logs, name)
	return dir, pointLatest(logs, name)
}

// pointLatest makes logs/latest a symbolic link to the run, or a text file that names it where
// the file system knows no links. It replaces the old one in one move.
func pointLatest(logs, name string) error {
	latest, fresh := filepath.Join(logs, "latest"), filepath.Join(logs, ".latest-"+name)
	err := os.Symlink(name, fresh)
	if err != nil {
		err = os.WriteFile(fresh, []byte(name+"\n"), 0o644)
	}
	if err == nil {
		err = os.Rename(fresh, latest)
	}
	if err != nil {
		os.Remove(fresh)
		return fmt.Errorf("point %s to the run: %w; is there room, and is it ours?", latest, err)
	}
	return nil
}

// latestRun is the folder that logs/latest points to, "" when there is none.
func latestRun(logs string) string {
	latest := filepath.Join(logs, "latest")
	name, err := os.Readlink(latest)
	if err != nil {
		text, _ := os.ReadFile(latest)
		name = strings.TrimSpace(string(text))
	}
	dir := filepath.Join(logs, filepath.Base(name))
	if info, err := os.Stat(dir); name == "" || err != nil || !info.IsDir() {
		return ""
	}
	return dir
}

// hasRoom writes and removes a megabyte, so that a full disk is told as one.
func hasRoom(dir string) error {
	probe := filepath.Join(dir, ".room")
	err := os.WriteFile(probe, make([]byte, 1<<20), 0o644)
	os.Remove(probe)
	if err != nil {
		return fmt.Errorf("the folder of the evidence takes no more: %w", err)
	}
	return nil
}

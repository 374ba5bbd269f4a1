package postgres

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// createLog opens server.log in a folder, or server-ID.log where another server took that name.
func createLog(dir, id string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the log's folder: %w", err)
	}
	const flags = os.O_CREATE | os.O_EXCL | os.O_WRONLY | os.O_APPEND
	f, err := os.OpenFile(filepath.Join(dir, "server.log"), flags, 0o644)
	if errors.Is(err, os.ErrExist) {
		f, err = os.OpenFile(filepath.Join(dir, "server-"+id+".log"), flags, 0o644)
	}
	if err != nil {
		return nil, fmt.Errorf("open the server's log: %w", err)
	}
	return f, nil
}

// logTail is the last lines of a log file, for the text of an error.
func logTail(path string, lines int) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "(no log: " + err.Error() + ")"
	}
	return lastLines(string(text), lines)
}

func lastLines(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

package postgres

import (
	"os"
	"strings"
)

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

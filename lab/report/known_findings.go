package report

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// findings is the file that the open findings of a run are kept in, one a line.
const findings = "findings.jsonl"

// KeepFindings writes the open findings into dir; without any the file is empty.
func KeepFindings(dir string, c Comparison) error {
	var b strings.Builder
	for _, f := range c.Open() {
		line, err := json.Marshal(f)
		if err != nil {
			return fmt.Errorf("report: encode a finding: %w", err)
		}
		b.Write(append(line, '\n'))
	}
	if err := os.WriteFile(filepath.Join(dir, findings), []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("report: keep the findings: %w; is there room on the disk?", err)
	}
	return nil
}

// ReadFindings reads a file of findings, or that of a run's folder. known is false when there is
// none.
func ReadFindings(path string) (all []Finding, known bool, err error) {
	if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
		path = filepath.Join(path, findings)
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("report: read earlier findings: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var found Finding
		err := json.Unmarshal(lines.Bytes(), &found)
		if err == nil && found.Fingerprint == "" {
			err = errors.New("it has no fingerprint")
		}
		if err != nil {
			return nil, false, fmt.Errorf("report: %s, line %d, is no finding: %w", path, n, err)
		}
		all = append(all, found)
	}
	if err := lines.Err(); err != nil {
		return nil, false, fmt.Errorf("report: read earlier findings: %w", err)
	}
	return all, true, nil
}

package export

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
)

// Forms are the ways in which a script can be written down.
type Forms struct{ Psql, Isolation bool }

// Save writes the script into dir as NAME.sql for people, and as NAME.spec with NAME.out for the
// isolation tester, and gives the files' paths. schema is the file of the tables, seen from there.
// Where the tester can't play the run, err says why, and what people can follow is written all the
// same.
func (s *Script) Save(dir, schema string, f Forms) (written []string, err error) {
	write := func(extension, text string) error {
		path := filepath.Join(dir, s.fileName()+extension)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return fmt.Errorf("export: keep the script: %w; is there room on the disk?", err)
		}
		written = append(written, path)
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("export: make the folder of the scripts: %w", err)
	}
	if f.Psql {
		if err := write(".sql", s.Psql(schema)); err != nil {
			return written, err
		}
	}
	if !f.Isolation {
		return written, nil
	}
	spec, expected, err := s.IsolationSpec(schema)
	if err == nil {
		err = write(".spec", spec)
	}
	if err == nil {
		err = write(".out", expected)
	}
	return written, err
}

// fileName is the name without what would lead out of a folder.
func (s *Script) fileName() string { return url.PathEscape(s.Name) }

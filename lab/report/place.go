package report

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"webhooklab/lab"
)

// Places knows where in the project's files an offence was noticed, or its case is told.
type Places struct {
	files    map[string][]string // by their last element, those that tell scenarios and laws first
	declared map[string]place    // by the name of scenario, sin or test
}

// A place is a line of a file; the file is "" when it is not known.
type place struct {
	File string
	Line int
}

// FindPlaces reads the Go files below root. They are named relative to base, with slashes, so that
// other tools find them; base is the repository that the project is in.
func FindPlaces(root, base string) Places {
	p := Places{map[string][]string{}, map[string]place{}}
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return nil // what can't be read has no places
		case d.IsDir() && path != root && (name[0] == '.' || name == "logs" || name == "testdata"):
			return fs.SkipDir
		case !d.IsDir() && strings.HasSuffix(name, ".go"):
			p.add(root, base, path)
		}
		return nil
	})
	return p
}

// declaration is where a scenario, a broken receiver or the test of a law gets its name.
var declaration = regexp.MustCompile(`(?m)^func (Test\w+)\(|\bName:\s*"([a-z0-9_]+)"`)

func (p Places) add(root, base, path string) {
	shown, err := filepath.Rel(base, path)
	if err != nil || strings.HasPrefix(shown, "..") {
		return
	}
	shown = filepath.ToSlash(shown)
	name := filepath.Base(path)
	if tells(root, path) {
		p.files[name] = append([]string{shown}, p.files[name]...)
	} else {
		p.files[name] = append(p.files[name], shown)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return
	}
	for _, m := range declaration.FindAllSubmatchIndex(text, -1) {
		at := m[2:4]
		if at[0] < 0 {
			at = m[4:6]
		}
		name := string(text[at[0]:at[1]])
		if _, taken := p.declared[name]; !taken || tells(root, path) {
			p.declared[name] = place{shown, 1 + strings.Count(string(text[:at[0]]), "\n")}
		}
	}
}

// tells: the file is of a room in which scenarios and laws are told, and what has the same name
// elsewhere only speaks of them.
func tells(root, path string) bool {
	switch filepath.Dir(path) {
	case filepath.Join(root, "scenarios"), filepath.Join(root, "properties"):
		return true
	}
	return false
}

// Find is where an offence of the entry was noticed, or else where its case is told; "" and 0 when
// neither is known.
func (p Places) Find(e Entry, o lab.Offence) (file string, line int) {
	e.Offences = []lab.Offence{o}
	at := p.of(e)
	return at.File, at.Line
}

// of is where the worst offence of an entry was noticed, or else where its case is told.
func (p Places) of(e Entry) place {
	if len(e.Offences) > 0 {
		if at := p.at(e.Offences[e.worst()].At); at.File != "" {
			return at
		}
	}
	name, _, _ := strings.Cut(e.Name, "/")
	return p.declared[name]
}

// at finds the file of a place such as "deadlock.go:42".
func (p Places) at(short string) place {
	name, line, _ := strings.Cut(short, ":")
	n, err := strconv.Atoi(line)
	if files := p.files[name]; err == nil && len(files) > 0 {
		return place{files[0], n}
	}
	return place{}
}

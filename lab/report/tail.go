package report

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
)

// A Tail reads the verdicts of a run while its tests append them.
type Tail struct {
	dir string
	at  map[string]int64 // what comes before was read, by file
}

// Follow begins at the first verdict in dir.
func Follow(dir string) *Tail { return &Tail{dir, map[string]int64{}} }

// Next is what was appended since the last call. A line that is not whole yet is left for the next
// one; a line that is no verdict is left out, as Read tells of it when the run is over.
func (t *Tail) Next() (entries []Entry, programs []Explored) {
	return decoded[Entry](t.whole(verdicts)), decoded[Explored](t.whole(explored))
}

// whole are the new whole lines of a file.
func (t *Tail) whole(name string) []byte {
	f, err := os.Open(filepath.Join(t.dir, name))
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, t.at[name], 1<<62))
	if err != nil {
		return nil
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	t.at[name] += int64(len(whole))
	return whole
}

func decoded[T any](text []byte) (all []T) {
	for line := range bytes.Lines(text) {
		var v T
		if json.Unmarshal(line, &v) == nil {
			all = append(all, v)
		}
	}
	return all
}

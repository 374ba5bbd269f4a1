package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// testEvents is the file of what "go test -json" says, one event a line.
const testEvents = "tests.jsonl"

// An event is what is read of such a line.
type event struct {
	Action, Package, Test, ImportPath, Output string
	Elapsed                                   float64 // seconds
}

// name is the test's, with its package's before it; that of a package, or of a build.
func (e event) name() string {
	base := e.Package[strings.LastIndex(e.Package, "/")+1:]
	switch {
	case e.ImportPath != "":
		return "build of " + e.ImportPath
	case e.Test == "":
		return base
	}
	return base + "." + e.Test
}

// ended tells that a test, a package or a build is over.
func (e event) ended() bool {
	switch e.Action {
	case "pass", "fail", "skip", "build-fail":
		return true
	}
	return false
}

// outputBound is how much of what a failed test says is kept, in bytes; its end is kept.
const outputBound = 64 << 10

// testResults are what came of the tests of a run.
type testResults struct {
	failed  []string // innermost tests, packages that failed without any, builds
	outputs map[string]string
	passed  map[string]bool
	elapsed map[string]float64 // of packages, in seconds
}

// readTests reads the events in dir. Without the file there are none.
func readTests(dir string) testResults {
	r := testResults{outputs: map[string]string{}, passed: map[string]bool{},
		elapsed: map[string]float64{}}
	f, err := os.Open(filepath.Join(dir, testEvents))
	if err != nil {
		return r
	}
	defer f.Close()
	said := map[string][]byte{}
	events := &lines{hear: func(line []byte) {
		var e event
		if json.Unmarshal(line, &e) == nil {
			r.hear(e, said)
		}
	}}
	io.Copy(events, bufio.NewReader(f)) //nolint:errcheck // what can't be read has no results
	events.end()
	return r
}

func (r *testResults) hear(e event, said map[string][]byte) {
	name := e.name()
	if strings.HasSuffix(e.Action, "output") {
		said[name] = append(said[name], e.Output...)
		if over := len(said[name]) - outputBound; over > 0 {
			said[name] = said[name][over:]
		}
	}
	if !e.ended() {
		return
	}
	if e.Test == "" && e.Package != "" {
		r.elapsed[name] = e.Elapsed
	}
	failed := e.Action == "fail" || e.Action == "build-fail"
	if failed && !hasWithin(r.failed, name) {
		r.failed = append(r.failed, name)
		r.outputs[name] = string(said[name])
	}
	r.passed[name] = e.Action == "pass"
	delete(said, name)
}

// hasWithin tells whether a failure inside the named one is known: a subtest, or a package's test.
func hasWithin(failed []string, name string) bool {
	return slices.ContainsFunc(failed, func(f string) bool {
		rest, inside := strings.CutPrefix(f, name)
		return inside && (rest == "" || rest[0] == '/' || rest[0] == '.')
	})
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"webhooklab/lab/postgres"
	"webhooklab/lab/report"
)

// startBound is how long a server may take to come up, an image's pull included.
const startBound = 15 * time.Minute

// stopBound is how long it may take to go.
const stopBound = 30 * time.Second

// errInterrupted says that somebody stopped the run.
var errInterrupted = errors.New("the run was interrupted")

// A gate is one run: from the folder and the server to the summary and the exit code.
type gate struct {
	options
	out, errs io.Writer
	root      string // of the project
	dir       string // of the run's evidence
	terminal  bool
	result    report.Run
}

// run does everything and returns the exit code. Whatever goes wrong is told in the summary.
func (g *gate) run(ctx context.Context) int {
	began := time.Now()
	g.result.Seed = g.seed
	err := g.prepare(began)
	if err == nil {
		err = g.judge(ctx)
	}
	g.result.Elapsed = time.Since(began)
	if err == nil && g.record {
		err = g.keepRecord()
	}
	if err != nil {
		g.result.Trouble = joined(g.result.Trouble, err.Error())
	}
	return g.tell()
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

func (g *gate) prepare(now time.Time) (err error) {
	if g.root, err = findModule(); err != nil {
		return err
	}
	if g.logs == "" {
		g.logs = filepath.Join(g.root, "logs")
	}
	g.terminal = isTerminal(g.out)
	g.dir, err = makeFolder(g.logs, g.seed, now)
	if err != nil {
		return err
	}
	g.result.Folder = g.dir
	if rel, err := filepath.Rel(g.root, g.dir); err == nil && !strings.HasPrefix(rel, "..") {
		g.result.Folder = rel
	}
	return hasRoom(g.dir)
}

// judge starts the server, runs the tests on it, stops it and reads the verdicts.
func (g *gate) judge(ctx context.Context) error {
	server, err := g.startOrInstall(ctx)
	if err != nil {
		return err
	}
	g.result.Server = server.Describe()
	fmt.Fprintf(g.out, "server %s\nseed   %d\nlogs   %s\n\n",
		g.result.Server, g.seed, g.result.Folder)
	passed, err := g.runTests(ctx, server.Handover())
	g.result.TestsFailed = !passed && err == nil
	g.result.FailedTests = failedTests(g.dir)
	err = errors.Join(err, stop(server))
	var unread error
	g.result.Entries, unread = report.Read(g.dir)
	err = errors.Join(err, unread)
	g.result.Explored, unread = report.ReadExplored(g.dir)
	return errors.Join(err, unread, hasRoom(g.dir), g.matched(passed))
}

// matched tells of a filter that let nothing through.
func (g *gate) matched(passed bool) error {
	switch {
	case !passed || len(g.result.Entries) > 0:
		return nil
	case g.scenario != "":
		return fmt.Errorf("no scenario's name matches %q", g.scenario)
	case g.law != "":
		return fmt.Errorf("no law's test has a name that matches %q", g.law)
	}
	return nil
}

func (g *gate) start(ctx context.Context) (*postgres.Server, error) {
	ctx, cancel := context.WithTimeout(ctx, startBound)
	defer cancel()
	return postgres.Start(ctx, postgres.Config{LogDir: g.dir, Progress: g.say})
}

func (g *gate) say(line string) { fmt.Fprintln(g.errs, "lab: "+line) }

// stop ends the server in its own time: that of the run may be over.
func stop(server *postgres.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopBound)
	defer cancel()
	if err := server.Stop(ctx); err != nil {
		return fmt.Errorf("stop the server: %w", err)
	}
	return nil
}

// tell writes the summary, prints it, prints how to repeat each failure, and gives the code.
func (g *gate) tell() int {
	text := report.Summary(g.result)
	if g.dir != "" {
		file := filepath.Join(g.dir, "summary.txt")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			g.result.Trouble = joined(g.result.Trouble,
				fmt.Sprintf("keep the summary: %v; is there room on the disk?", err))
			text = report.Summary(g.result)
		}
	}
	fmt.Fprintf(g.out, "\n%s", text)
	code, _ := g.result.ExitCode()
	failures := report.Failures(g.result.Entries)
	if len(failures) > 0 {
		fmt.Fprintf(g.out, "\nAGAIN\n")
	}
	for _, e := range failures {
		fmt.Fprintf(g.out, "  %s\n", e.Again(g.seed))
	}
	return code
}

// isTerminal: a person watches, and no CI system only seems to be one.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("CI") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

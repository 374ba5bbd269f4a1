package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
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
	machine   *jsonLines // nil where none does
	root      string     // of the project
	dir       string     // of the run's evidence
	before    string     // of the run before this one, "" for none
	against   string     // what the findings are compared with
	known     []report.Finding
	terminal  bool
	places    report.Places
	result    report.Run
}

// run does everything and returns the exit code. Whatever goes wrong is told in the summary.
func (g *gate) run(ctx context.Context) int {
	began := time.Now()
	g.result.Seed, g.result.Options = g.seed, g.narrowed()
	if g.json {
		g.machine = &jsonLines{out: g.out, seed: g.seed}
	}
	err := g.prepare(began)
	g.machine.started(g, began)
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
	g.terminal = isTerminal(g.human())
	g.places = report.FindPlaces(g.root, repository(g.root))
	if g.machine != nil {
		g.machine.places = g.places
	}
	g.before = latestRun(g.logs)
	if err := g.readBaseline(); err != nil {
		return err
	}
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
	fmt.Fprintf(g.human(), "server %s\nseed   %d\nlogs   %s\n\n",
		g.result.Server, g.seed, g.result.Folder)
	g.machine.server(g.result.Server)
	passed, err := g.runTests(ctx, server.Handover())
	g.result.TestsFailed = !passed && err == nil
	results := readTests(g.dir)
	g.result.FailedTests, g.result.Outputs = results.failed, results.outputs
	g.result.Passed = results.passed
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

// human is where a person reads: the output, unless another program reads that.
func (g *gate) human() io.Writer {
	if g.json {
		return g.errs
	}
	return g.out
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

// tell keeps what came of the run, prints it with how to repeat each failure, and gives the code.
func (g *gate) tell() int {
	g.result.Compared = report.Compare(g.result, g.against, g.known)
	if g.dir != "" {
		if err := g.keepResults(); err != nil {
			g.result.Trouble = joined(g.result.Trouble, err.Error())
		}
	}
	fmt.Fprintf(g.human(), "\n%s", report.Summary(g.result))
	if g.dir != "" {
		fmt.Fprintf(g.human(), "\nThe whole run, drawn: %s\n",
			filepath.Join(g.result.Folder, "report.html"))
	}
	g.tellAgain()
	g.tellGitHub()
	g.machine.summary(g.result)
	code, _ := g.result.ExitCode()
	return code
}

// tellAgain prints each command that repeats a failure, once.
func (g *gate) tellAgain() {
	var commands []string
	for _, e := range report.Failures(g.result.Judged()) {
		if again := e.Again(g.seed); !slices.Contains(commands, again) {
			commands = append(commands, again)
		}
	}
	if len(commands) > 0 {
		fmt.Fprintf(g.human(), "\nAGAIN\n  %s\n", strings.Join(commands, "\n  "))
	}
}

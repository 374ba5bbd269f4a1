package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"webhooklab/lab/postgres"
)

// testsBound ends a package whose tests hang although everything in them is bounded.
const testsBound = "60m"

// graceBound is how long interrupted tests may take to end before they are killed.
const graceBound = 5 * time.Second

// runTests runs what the options ask for under gotestsum, and says whether all of it passed. The
// error tells that the tests could not be run at all, or were interrupted.
func (g *gate) runTests(ctx context.Context, handover string) (passed bool, err error) {
	cmd := exec.CommandContext(ctx, "go", g.testArguments()...)
	cmd.Dir, cmd.Env = g.root, g.testEnvironment(postgres.Environment(), handover)
	cmd.Stdout, cmd.Stderr = g.out, g.errs
	cmd.WaitDelay = graceBound
	if g.terminal {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		p := startProgress(g.out, g.dir, tick.C)
		defer p.end()
		cmd.Stdout, cmd.Stderr = p, p
	}
	group, err := startGroup(cmd)
	if err != nil {
		return false, fmt.Errorf("start the tests: %w; is Go in PATH?", err)
	}
	err = cmd.Wait()
	group.end()
	if ctx.Err() != nil {
		return false, errInterrupted
	}
	return err == nil, nil
}

func (g *gate) testArguments() []string {
	format := []string{"--format", "testname", "--no-color"}
	if g.terminal {
		format = []string{"--format", "testname", "--no-color=" +
			strconv.FormatBool(os.Getenv("NO_COLOR") != "")}
	}
	args := append([]string{"tool", "gotestsum",
		"--junitfile", filepath.Join(g.dir, "junit.xml"),
		"--jsonfile", filepath.Join(g.dir, "tests.jsonl")}, format...)
	args = append(args, "--", "-count=1", "-timeout="+testsBound)
	if g.short {
		args = append(args, "-short")
	}
	return append(args, g.whichTests()...)
}

func (g *gate) whichTests() []string {
	switch {
	case g.law != "":
		return []string{"-run", g.law, "./properties"}
	case g.scenario != "":
		return []string{"-run", "^(TestScenarios|TestLoops)$", "./scenarios"}
	case g.replay != "":
		return []string{"-run", "^TestReplay$", "./scenarios"}
	}
	return []string{"-skip", "^TestReplay$",
		"./scenarios", "./properties", "./lab/inbox", "./lab/webhook"}
}

// steers matches variables that would steer the tests or gotestsum from outside.
var steers = regexp.MustCompile(`^(LAB_(LOGS|LOOPS|SEED|SEQUENCES|SCENARIO|REPLAY|GATE|ROOT)|` +
	postgres.HandoverVariable + `|TEST_DIRECTORY|GOTESTSUM_.*)=`)

// testEnvironment is the given one with what the tests read from this run.
func (g *gate) testEnvironment(env []string, handover string) []string {
	env = slices.DeleteFunc(slices.Clone(env), steers.MatchString)
	env = append(env, "LAB_GATE=1", "LAB_LOGS="+g.dir,
		"LAB_LOOPS="+strconv.Itoa(g.loops), "LAB_SEQUENCES="+strconv.Itoa(g.sequences),
		"LAB_SEED="+strconv.FormatUint(g.seed, 10), postgres.HandoverVariable+"="+handover)
	if g.scenario != "" {
		env = append(env, "LAB_SCENARIO="+g.scenario)
	}
	if g.replay != "" {
		env = append(env, "LAB_REPLAY="+g.replay)
	}
	return env
}

// An event is what is read of a line of gotestsum's file.
type event struct{ Action, Package, Test, ImportPath string }

// failedTests names what failed, from gotestsum's file: tests, innermost only, packages that
// failed without any, such as one that ended in a panic, and packages that did not build.
func failedTests(dir string) (failed []string) {
	f, err := os.Open(filepath.Join(dir, "tests.jsonl"))
	if err != nil {
		return nil
	}
	defer f.Close()
	for lines := bufio.NewReader(f); err == nil; {
		var line []byte
		line, err = lines.ReadBytes('\n')
		var e event
		if json.Unmarshal(line, &e) != nil {
			continue
		}
		if name := e.failure(); name != "" && !hasWithin(failed, name) {
			failed = append(failed, name)
		}
	}
	return failed
}

// failure is the name of what this event says has failed, "" when nothing has.
func (e event) failure() string {
	base := e.Package[strings.LastIndex(e.Package, "/")+1:]
	switch {
	case e.Action == "build-fail":
		return "build of " + e.ImportPath
	case e.Action != "fail":
		return ""
	case e.Test == "":
		return base
	}
	return base + "." + e.Test
}

// hasWithin tells whether a failure inside the named one is known: a subtest, or a package's test.
func hasWithin(failed []string, name string) bool {
	return slices.ContainsFunc(failed, func(f string) bool {
		rest, inside := strings.CutPrefix(f, name)
		return inside && (rest == "" || rest[0] == '/' || rest[0] == '.')
	})
}

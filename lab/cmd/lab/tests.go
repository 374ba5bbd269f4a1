package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"webhooklab/lab/postgres"
)

// testsBound ends a package whose tests hang although everything in them is bounded.
const testsBound = "60m"

// graceBound is how long interrupted tests may take to end before they are killed.
const graceBound = 5 * time.Second

// runTests runs what the options ask for, shows how it goes, and says whether all of it passed. The
// error tells that the tests could not be run at all, or were interrupted.
func (g *gate) runTests(ctx context.Context, handover string) (passed bool, err error) {
	kept, err := os.Create(filepath.Join(g.dir, testEvents))
	if err != nil {
		return false, fmt.Errorf("keep what the tests say: %w", err)
	}
	defer kept.Close()
	cmd := exec.CommandContext(ctx, "go", g.testArguments()...)
	cmd.Dir, cmd.Env = g.root, g.testEnvironment(postgres.Environment(), handover)
	cmd.WaitDelay = graceBound
	show := g.startShow()
	defer show.end()
	said := &lines{hear: func(line []byte) {
		fmt.Fprintf(kept, "%s\n", line) //nolint:errcheck // a full disk is told after the tests
		show.line(line)
	}}
	complained := &lines{hear: func(line []byte) { fmt.Fprintf(show, "%s\n", line) }}
	cmd.Stdout, cmd.Stderr = said, complained
	group, err := startGroup(cmd)
	if err != nil {
		return false, fmt.Errorf("start the tests: %w; is Go in PATH?", err)
	}
	err = cmd.Wait()
	group.end()
	said.end()
	complained.end()
	if ctx.Err() != nil {
		return false, errInterrupted
	}
	return err == nil, nil
}

func (g *gate) testArguments() []string {
	args := []string{"test", "-json", "-count=1", "-timeout=" + testsBound}
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

// steers matches variables that would steer the tests from outside.
var steers = regexp.MustCompile(`^(LAB_(LOGS|LOOPS|SEED|SEQUENCES|SCENARIO|REPLAY|GATE|ROOT)|` +
	postgres.HandoverVariable + `)=`)

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

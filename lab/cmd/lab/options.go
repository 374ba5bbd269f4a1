package main

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
)

//go:embed help.txt
var help string

// errHelp asks for the help text.
var errHelp = errors.New("help is wanted")

// options are what the user asked for, checked.
type options struct {
	loops, sequences       int
	seed                   uint64
	scenario, law, replay  string
	logs, baseline         string
	short, record, install bool
	json                   bool
}

// parse reads the arguments of run. Its errors say which argument is wrong and what it may be.
func parse(args []string) (options, error) {
	var o options
	var seed string
	f := flag.NewFlagSet("run", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.IntVar(&o.loops, "loops", 30, "")
	f.IntVar(&o.sequences, "sequences", 10000, "")
	f.StringVar(&seed, "seed", "", "")
	f.StringVar(&o.scenario, "scenario", "", "")
	f.StringVar(&o.law, "law", "", "")
	f.StringVar(&o.replay, "replay", "", "")
	f.StringVar(&o.logs, "logs", "", "")
	f.StringVar(&o.baseline, "baseline", "", "")
	f.BoolVar(&o.json, "json", false, "")
	f.BoolVar(&o.short, "short", false, "")
	f.BoolVar(&o.record, "record", false, "")
	f.BoolVar(&o.install, "install", false, "")
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return o, errHelp
	case err != nil:
		return o, err
	case f.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	given := map[string]bool{}
	f.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if o.short && !given["loops"] {
		o.loops = 3
	}
	if o.short && !given["sequences"] {
		o.sequences = 300
	}
	if err := o.check(given); err != nil {
		return o, err
	}
	o.seed, err = chooseSeed(seed, o.replay)
	return o, err
}

// replayLine is a schedule as a report prints it.
var replayLine = regexp.MustCompile(`^[a-z0-9_]+@([0-9]+)( \S+)*$`)

func (o *options) check(given map[string]bool) error {
	switch {
	case o.loops < 1:
		return fmt.Errorf("--loops %d: want 1 or more", o.loops)
	case o.sequences < 1:
		return fmt.Errorf("--sequences %d: want 1 or more", o.sequences)
	}
	var chosen []string
	for _, name := range []string{"scenario", "law", "replay"} {
		if given[name] {
			chosen = append(chosen, "--"+name)
		}
	}
	switch {
	case len(chosen) > 1:
		return fmt.Errorf("%s exclude each other", strings.Join(chosen, " and "))
	case o.record && (len(chosen) > 0 || o.short):
		return errors.New("--record keeps whole runs: leave out --short, --scenario, --law, --replay")
	}
	for name, text := range map[string]string{"scenario": o.scenario, "law": o.law} {
		if _, err := regexp.Compile(text); err != nil {
			return fmt.Errorf("--%s %q: %w", name, text, err)
		}
		if given[name] && text == "" {
			return fmt.Errorf("--%s: the regular expression is empty", name)
		}
	}
	o.replay = strings.TrimSpace(o.replay)
	if given["replay"] && !replayLine.MatchString(o.replay) {
		return fmt.Errorf("--replay %q: want one line, name@seed step step …", o.replay)
	}
	return nil
}

// narrowed are the options that make a run less than a whole one, as they are typed.
func (o options) narrowed() string {
	var all []string
	if o.short {
		all = append(all, "--short")
	}
	if o.loops < 30 {
		all = append(all, fmt.Sprintf("--loops %d", o.loops))
	}
	if o.sequences < 10000 {
		all = append(all, fmt.Sprintf("--sequences %d", o.sequences))
	}
	if o.scenario != "" {
		all = append(all, "--scenario '"+o.scenario+"'")
	}
	if o.law != "" {
		all = append(all, "--law '"+o.law+"'")
	}
	if o.replay != "" {
		all = append(all, "--replay '"+o.replay+"'")
	}
	return strings.Join(all, " ")
}

// chooseSeed takes the given seed, or that of the schedule, or a fresh one.
func chooseSeed(given, replay string) (uint64, error) {
	if given == "" && replay != "" {
		given = replayLine.FindStringSubmatch(replay)[1]
	}
	if given == "" {
		return rand.Uint64N(1_000_000_000), nil // short enough to be read out
	}
	seed, err := strconv.ParseUint(given, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("--seed %q: want a whole number from 0 to 2^64-1", given)
	}
	return seed, nil
}

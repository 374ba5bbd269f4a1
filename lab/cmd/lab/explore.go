package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"webhooklab/lab"
	"webhooklab/lab/report"
	"webhooklab/scenarios"
)

//go:embed explore_help.txt
var exploreHelp string

// exploring is what the user of lab explore asked for.
type exploring struct {
	subject
	program  string
	sessions int
	want     lab.Exploration
	json     bool
}

func exploreCommand(ctx context.Context, args []string, out, errs io.Writer) int {
	e, err := parseExploring(args)
	if code, ended := usage(err, "explore", exploreHelp, out, errs); ended {
		return code
	}
	b, closeAll, err := e.stage(ctx, errs)
	if err != nil {
		return unjudged(errs, "explore", err)
	}
	defer closeAll()
	failing, code := scenarios.Failing{Dir: failingDir()}, report.ExitHeld
	for _, p := range e.programs() {
		e.want.Program, e.want.Progress = p, progressOn(errs)
		done, err := b.ExploreAndKeep(ctx, e.want, failing)
		fmt.Fprint(errs, clearLine(errs))
		if err != nil {
			return unjudged(errs, "explore", err)
		}
		e.print(out, done)
		code = worst(code, done.Verdict)
	}
	return code
}

func parseExploring(args []string) (e exploring, err error) {
	f := flag.NewFlagSet("explore", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	receiver := f.String("receiver", "snapshots", "")
	command := f.String("command", "", "")
	shard := f.String("shard", "", "")
	seed := f.Uint64("seed", 1, "")
	f.StringVar(&e.program, "program", "", "")
	f.IntVar(&e.sessions, "sessions", 0, "")
	f.IntVar(&e.want.Budget, "budget", 0, "")
	f.DurationVar(&e.want.Time, "time", 0, "")
	f.IntVar(&e.want.Samples, "samples", 0, "")
	f.IntVar(&e.want.Stop, "stop", 0, "")
	f.BoolVar(&e.want.Whole, "whole", false, "")
	f.BoolVar(&e.want.Gated, "gated", false, "")
	audit := f.Bool("audit", false, "")
	f.BoolVar(&e.json, "json", false, "")
	if err = f.Parse(args); err != nil {
		return e, err
	}
	if f.NArg() > 0 {
		return e, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if *audit {
		e.want.Audit = 1
	}
	if e.subject, err = subjectOf(*receiver, *command); err != nil {
		return e, err
	}
	e.options.Seed = *seed
	if e.want.Shard, e.want.Shards, err = parseShard(*shard); err != nil {
		return e, err
	}
	if len(e.programs()) == 0 {
		return e, fmt.Errorf("no program of %s matches; it has %s",
			e.suite.Name, strings.Join(programNames(e.suite), ", "))
	}
	e.want.List = e.json
	return e, nil
}

// parseShard reads "2/4".
func parseShard(text string) (shard, shards int, err error) {
	if text == "" {
		return 0, 0, nil
	}
	i, n, ok := strings.Cut(text, "/")
	shard, errI := strconv.Atoi(i)
	shards, errN := strconv.Atoi(n)
	if !ok || errI != nil || errN != nil || shard < 1 || shard > shards {
		return 0, 0, fmt.Errorf("-shard %q: want i/n, with i from 1 to n", text)
	}
	return shard, shards, nil
}

// programs are those that were asked for.
func (e exploring) programs() (some []lab.Program) {
	for _, p := range e.suite.Programs {
		if (e.program == "" || e.program == p.Name) &&
			(e.sessions == 0 || e.sessions == len(p.Sessions)) {
			some = append(some, p)
		}
	}
	return some
}

func programNames(suite scenarios.Suite) (names []string) {
	for _, p := range suite.Programs {
		names = append(names, p.Name)
	}
	return names
}

// print tells what came of one program.
func (e exploring) print(out io.Writer, done lab.Explored) {
	if e.json {
		_ = json.NewEncoder(out).Encode(scenarios.Told(e.suite.Name, done))
		return
	}
	fmt.Fprintf(out, "%-34s %-8s %s\n", done.Program, done.Verdict, tally(done))
	for i, f := range done.Failures {
		if i > 0 {
			fmt.Fprintf(out, "  also  lab replay%s '%s'\n", e.flags(), f.Schedule)
			continue
		}
		fmt.Fprintf(out, "\n%s\n", indented(f.Report.String()))
		if f.Schedule.Program != "" {
			fmt.Fprintf(out, "  again: lab replay%s '%s'\n\n", e.flags(), f.Line())
		}
	}
	for _, v := range done.Varied {
		fmt.Fprintf(out, "  varied: %s\n", v)
	}
}

// tally says how much was run, and how much was not.
func tally(e lab.Explored) string {
	text := fmt.Sprintf("%d orders run", e.Explored)
	if e.Reduced {
		text += fmt.Sprintf(", %d branches pruned as equivalent", e.Pruned+e.Cut)
	}
	if e.Left > 0 {
		text += fmt.Sprintf(", %d branches LEFT", e.Left)
	}
	if e.Bound != "" {
		text += "; " + e.Bound
	}
	if e.Gates > 0 {
		text += fmt.Sprintf("; %d gates opened", e.Gates)
	}
	text += fmt.Sprintf("; %v interleavings, were nobody to wait", e.Orders)
	return fmt.Sprintf("%s; %d different ends, %v", text, len(e.States), e.Elapsed.Round(time.Millisecond))
}

func indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ")
}

// failingDir keeps what failed, below the project's logs or, outside of one, below the user's cache.
func failingDir() string {
	if root, err := findModule(); err == nil {
		return filepath.Join(root, "logs", "failing")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "webhooklab", "failing")
}

// progressOn writes one line that is overwritten, on terminals only.
func progressOn(errs io.Writer) func(lab.Explored) {
	if !isTerminal(errs) {
		return nil
	}
	return func(e lab.Explored) {
		rate := float64(e.Explored+e.Cut) / max(e.Elapsed.Seconds(), 0.001)
		fmt.Fprintf(errs, "\r\x1b[K%s: %d explored, at least %d more, %.0f/s, at least %v more",
			e.Program, e.Explored, e.Left, rate,
			time.Duration(float64(e.Left)/max(rate, 1)*float64(time.Second)).Round(time.Second))
	}
}

func clearLine(errs io.Writer) string {
	if isTerminal(errs) {
		return "\r\x1b[K"
	}
	return ""
}

package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"webhooklab/lab"
	"webhooklab/lab/report"
	"webhooklab/scenarios"
)

//go:embed replay_help.txt
var replayHelp string

// replayCommand runs one schedule again: 3 when the receiver no longer follows it.
func replayCommand(ctx context.Context, args []string, out, errs io.Writer) int {
	f := flag.NewFlagSet("replay", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	receiver := f.String("receiver", "", "")
	command := f.String("command", "", "")
	err := f.Parse(args)
	if err == nil && f.NArg() == 0 {
		err = errors.New("the schedule is missing: quote the whole line")
	}
	if code, ended := usage(err, "replay", replayHelp, out, errs); ended {
		return code
	}
	line := strings.Join(f.Args(), " ")
	s, err := lab.ParseSchedule(line)
	if err != nil {
		return unjudged(errs, "replay", err)
	}
	suite, p, err := scenarios.ProgramNamed(s.Program)
	if err != nil {
		if _, _, other := scenarios.Named(s.Program); other == nil {
			return runCommand(ctx, []string{"--replay", line}, out, errs)
		}
		return unjudged(errs, "replay", err)
	}
	if *receiver == "" {
		*receiver = suite.Name
	}
	on, err := subjectOf(*receiver, *command)
	if err != nil {
		return unjudged(errs, "replay", err)
	}
	if s.Kills() {
		process, err := on.asProcess(*command != "")
		if err != nil {
			return unjudged(errs, "replay", err)
		}
		if process != nil { // otherwise it can't be killed here, and the replay says so
			on.options.Receiver = process
		}
	}
	return on.replay(ctx, p, s, out, errs)
}

func (on subject) replay(
	ctx context.Context, p lab.Program, s lab.Schedule, out, errs io.Writer,
) int {
	if s.Acts != nil {
		smaller, err := p.Only(s.Acts)
		if err != nil {
			return unjudged(errs, "replay", err)
		}
		p = smaller
	}
	on.options.Seed = s.Seed
	b, closeAll, err := on.stage(ctx, errs)
	if err != nil {
		return unjudged(errs, "replay", err)
	}
	defer closeAll()
	r := b.Replay(ctx, p, s)
	fmt.Fprint(out, r.Report.String())
	if r.NoFit != "" {
		fmt.Fprintf(out, "\nthe schedule no longer fits: %s\n", r.NoFit)
		return report.ExitNoFit
	}
	return worst(report.ExitHeld, r.Report.Verdict)
}

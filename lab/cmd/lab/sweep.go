package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"webhooklab/lab"
	"webhooklab/lab/postgres"
	"webhooklab/lab/report"
	"webhooklab/scenarios"
)

//go:embed sweep_help.txt
var sweepHelp string

// sweeping is what the user of lab sweep asked for.
type sweeping struct {
	subject
	process  lab.NewReceiver
	program  string
	kills    bool
	json, md bool
}

func sweepCommand(ctx context.Context, args []string, out, errs io.Writer) int {
	w, err := parseSweeping(args)
	if code, ended := usage(err, "sweep", sweepHelp, out, errs); ended {
		return code
	}
	code, err := w.pass(ctx, postgres.Fast, nil, out, errs)
	if err == nil && w.kills {
		var killed int
		killed, err = w.pass(ctx, postgres.Durable, lab.ServerKills(), out, errs)
		code = worseOf(code, killed)
	}
	if err != nil {
		return unjudged(errs, "sweep", err)
	}
	return code
}

func parseSweeping(args []string) (w sweeping, err error) {
	f := flag.NewFlagSet("sweep", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	receiver := f.String("receiver", "snapshots", "")
	command := f.String("command", "", "")
	seed := f.Uint64("seed", 1, "")
	f.StringVar(&w.program, "program", "", "")
	f.BoolVar(&w.kills, "server-kills", false, "")
	f.BoolVar(&w.json, "json", false, "")
	f.BoolVar(&w.md, "markdown", false, "")
	if err = f.Parse(args); err != nil {
		return w, err
	}
	if f.NArg() > 0 {
		return w, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if w.subject, err = subjectOf(*receiver, *command); err != nil {
		return w, err
	}
	w.options.Seed = *seed
	if len(w.programs(false)) == 0 {
		var names []string
		for _, p := range w.suite.Swept {
			names = append(names, p.Name)
		}
		return w, fmt.Errorf("no program of %s is called %q; it has %s",
			w.suite.Name, w.program, strings.Join(names, ", "))
	}
	w.process, err = w.asProcess(*command != "")
	return w, err
}

// asProcess starts the receiver as a process of its own: the user's program is one, the references
// are served by this very program, and what is broken on purpose is none.
func (s subject) asProcess(own bool) (lab.NewReceiver, error) {
	switch {
	case own:
		return s.options.Receiver, nil
	case s.options.Receiver != nil || s.suite.Name == scenarios.DoorSuite.Name:
		return nil, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program, to serve the receiver: %w", err)
	}
	return scenarios.AsProcess(self, "receiver", s.suite.Name), nil
}

// programs are those that were asked for; with kills only those of one session.
func (w sweeping) programs(kills bool) (some []lab.Program) {
	for _, p := range w.suite.Swept {
		if (w.program == "" || w.program == p.Name) && (!kills || len(p.Sessions) == 1) {
			some = append(some, p)
		}
	}
	return some
}

// pass sweeps every program on a server of this kind.
func (w sweeping) pass(
	ctx context.Context, on postgres.Profile, faults []lab.Fault, out, errs io.Writer,
) (code int, err error) {
	b, closeAll, err := w.stageOn(ctx, on, errs)
	if err != nil {
		return report.ExitUnjudged, err
	}
	defer closeAll()
	code = report.ExitHeld
	for _, p := range w.programs(faults != nil) {
		s := b.Sweep(ctx, lab.Sweeping{
			Program: p, Faults: faults, Process: w.process, Progress: cellsOn(errs, p.Name),
		})
		fmt.Fprint(errs, clearLine(errs))
		w.print(out, s)
		code = worst(code, s.Verdict)
	}
	return code, nil
}

func (w sweeping) print(out io.Writer, s lab.Swept) {
	switch {
	case w.json:
		_ = json.NewEncoder(out).Encode(scenarios.ToldSwept(w.suite.Name, s))
		return
	case w.md:
		fmt.Fprintln(out, s.Markdown())
	default:
		fmt.Fprintln(out, s)
	}
	for _, o := range s.Offences {
		fmt.Fprintf(out, "%s\n\n", indented(o.String()))
	}
	for i, c := range s.Failures() {
		if i == 0 {
			fmt.Fprintf(out, "%s\n\n", indented(c.Transcript))
		}
		fmt.Fprintf(out, "%s\n  again: lab replay '%s'\n\n",
			indented(c.Offences[0].String()), c.Schedule)
	}
}

// cellsOn writes one line that is overwritten, on terminals only. Of two sessions nobody knows
// beforehand how many cells there are.
func cellsOn(errs io.Writer, program string) func(done, of int) {
	if !isTerminal(errs) {
		return nil
	}
	began := time.Now()
	return func(done, of int) {
		fmt.Fprintf(errs, "\r\x1b[K%s: %s", program, progressOfCells(done, of, time.Since(began)))
	}
}

func progressOfCells(done, of int, took time.Duration) string {
	if of == 0 {
		return fmt.Sprintf("%d cells", done)
	}
	left := time.Duration(float64(took) / float64(done) * float64(of-done))
	return fmt.Sprintf("%d of %d cells, %s", done, of, about(left))
}

// worseOf is the worse of two exit codes: a broken law outranks what could not be judged.
func worseOf(a, b int) int {
	if a == report.ExitBroken || b == report.ExitBroken {
		return report.ExitBroken
	}
	return max(a, b)
}

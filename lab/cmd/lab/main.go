// Command lab is the gate: it starts a PostgreSQL, runs every scenario and property against it,
// keeps the evidence and tells by its exit code what came of it.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"webhooklab/lab/report"
)

func main() { os.Exit(command(os.Args[1:], os.Stdout, os.Stderr)) }

//go:embed commands.txt
var commands string

// command runs one subcommand and returns the exit code of the process.
func command(args []string, out, errs io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(errs, commands)
		return report.ExitUnjudged
	}
	ctx, stop := signal.NotifyContext(context.Background(),
		os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends us at once
	switch args[0] {
	case "run":
		return runCommand(ctx, args[1:], out, errs)
	case "explore":
		return exploreCommand(ctx, args[1:], out, errs)
	case "sweep":
		return sweepCommand(ctx, args[1:], out, errs)
	case "replay":
		return replayCommand(ctx, args[1:], out, errs)
	case "matrix":
		return matrixCommand(ctx, args[1:], out, errs)
	case "install":
		return installCommand(ctx, args[1:], errs)
	case "reconcile":
		return reconcileCommand(ctx, args[1:], out, errs)
	case "guarantees":
		return guaranteesCommand(args[1:], out, errs)
	case "export":
		return exportCommand(ctx, args[1:], out, errs)
	case "serve":
		return serveCommand(ctx, args[1:], out, errs)
	case "receiver":
		return receiverCommand(args[1:], os.Stdin, out, errs)
	case "help", "-h", "-help", "--help":
		fmt.Fprint(out, commands)
		return report.ExitHeld
	}
	fmt.Fprintf(errs, "lab: there is no command %q\n\n%s", args[0], commands)
	return report.ExitUnjudged
}

func runCommand(ctx context.Context, args []string, out, errs io.Writer) int {
	o, err := parse(args)
	switch {
	case errors.Is(err, errHelp):
		fmt.Fprint(out, help)
		return report.ExitHeld
	case err != nil:
		fmt.Fprintf(errs, "lab: %v\n\n%s", err, help)
		return report.ExitUnjudged
	}
	g := gate{options: o, out: out, errs: errs}
	return g.run(ctx)
}

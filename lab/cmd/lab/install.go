package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"webhooklab/lab/postgres"
	"webhooklab/lab/report"
)

// startOrInstall starts a server. Where there is none to start, it installs one first if the user
// asked for that, and if it is one that would be taken.
func (g *gate) startOrInstall(ctx context.Context) (*postgres.Server, error) {
	server, err := g.start(ctx)
	if err == nil || !g.install {
		return server, err
	}
	switch os.Getenv("LAB_POSTGRES") {
	case "", "auto", "local":
	default:
		return nil, fmt.Errorf("%w; --install brings a local server, and LAB_POSTGRES asks for "+
			"another", err)
	}
	if failed := postgres.Install(ctx, g.say); failed != nil {
		return nil, fmt.Errorf("%w; and %w", err, failed)
	}
	return g.start(ctx)
}

// installCommand installs the server through the system's package manager.
func installCommand(ctx context.Context, args []string, errs io.Writer) int {
	if len(args) > 0 {
		fmt.Fprintf(errs, "lab: install takes no arguments, but got %q\n", args[0])
		return report.ExitUnjudged
	}
	say := func(line string) { fmt.Fprintln(errs, "lab: "+line) }
	if err := postgres.Install(ctx, say); err != nil {
		fmt.Fprintf(errs, "lab: %v\n", err)
		return report.ExitUnjudged
	}
	return report.ExitHeld
}

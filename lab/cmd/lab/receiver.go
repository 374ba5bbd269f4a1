package main

import (
	"fmt"
	"io"

	"webhooklab/lab/report"
	"webhooklab/scenarios"
)

// receiverCommand serves the reference receiver of a suite over standard input and output, so that
// the lab can start, kill and restart it as a process. People have no use for it: it is in no help.
func receiverCommand(args []string, in io.Reader, out, errs io.Writer) int {
	if len(args) != 1 {
		fmt.Fprintln(errs, "lab receiver: want the name of one suite")
		return report.ExitUnjudged
	}
	if err := scenarios.ServeReceiver(args[0], in, out); err != nil {
		fmt.Fprintf(errs, "lab receiver: %v\n", err)
		return report.ExitUnjudged
	}
	return report.ExitHeld
}

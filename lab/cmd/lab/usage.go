package main

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"webhooklab/lab"
	"webhooklab/lab/report"
)

// usage answers a wrong or a helpless command line.
func usage(err error, command, text string, out, errs io.Writer) (code int, ended bool) {
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, text)
		return report.ExitHeld, true
	case err != nil:
		fmt.Fprintf(errs, "lab %s: %v\n\n%s", command, err, text)
		return report.ExitUnjudged, true
	}
	return 0, false
}

func unjudged(errs io.Writer, command string, err error) int {
	fmt.Fprintf(errs, "lab %s: %v\n", command, err)
	return report.ExitUnjudged
}

// worst is the exit code after one more verdict: a broken law outranks an unknown one.
func worst(code int, v lab.Verdict) int {
	switch {
	case v == lab.VerdictInvalid || code == report.ExitBroken:
		return report.ExitBroken
	case v == lab.VerdictUnknown:
		return report.ExitUnjudged
	}
	return code
}

package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"webhooklab/lab/report"
	"webhooklab/scenarios"
)

//go:embed matrix_help.txt
var matrixHelp string

// matrixCommand puts every receiver before every judge: 0 when the references are clean and every
// flawed one is caught, 1 when one survives, 2 when something could not be judged.
func matrixCommand(ctx context.Context, args []string, out, errs io.Writer) int {
	var want scenarios.MatrixOptions
	f := flag.NewFlagSet("matrix", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&want.Receiver, "receiver", "", "")
	f.Uint64Var(&want.Seed, "seed", 1, "")
	f.BoolVar(&want.Short, "short", false, "")
	f.BoolVar(&want.Inputs, "inputs", false, "")
	asJSON := f.Bool("json", false, "")
	asMarkdown := f.Bool("markdown", false, "")
	err := f.Parse(args)
	switch {
	case err == nil && f.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", f.Arg(0))
	case err == nil && *asJSON && *asMarkdown:
		err = errors.New("-json and -markdown exclude each other")
	}
	if code, ended := usage(err, "matrix", matrixHelp, out, errs); ended {
		return code
	}
	want.Told = func(k report.Kill) { fmt.Fprintln(errs, "lab: "+k.Receiver+" was heard") }
	rows, err := matrixOn(ctx, want, errs)
	if err != nil {
		return unjudged(errs, "matrix", err)
	}
	switch {
	case *asJSON:
		for _, k := range rows {
			_ = json.NewEncoder(out).Encode(k)
		}
	case *asMarkdown:
		fmt.Fprint(out, report.KillsMarkdown(rows))
	default:
		fmt.Fprint(out, report.KillsText(rows))
	}
	return killsCode(rows)
}

// matrixOn hears them all on a server of its own, and keeps the rows where LAB_LOGS says.
func matrixOn(
	ctx context.Context, want scenarios.MatrixOptions, errs io.Writer,
) (rows []report.Kill, err error) {
	stage, err := scenarios.OpenStage(ctx, func(line string) { fmt.Fprintln(errs, "lab: "+line) })
	if err != nil {
		return nil, err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopBound)
		defer cancel()
		err = errors.Join(err, stage.Close(ctx))
	}()
	if rows, err = scenarios.Matrix(ctx, stage, want); err != nil {
		return nil, err
	}
	for _, k := range rows {
		err = errors.Join(err, report.AppendKill(os.Getenv("LAB_LOGS"), k))
	}
	return rows, err
}

// killsCode is the exit code: a reference that could not be judged is no broken one.
func killsCode(rows []report.Kill) int {
	code := report.ExitHeld
	for _, k := range rows {
		switch {
		case k.Wrong() == "":
		case k.Unjudged() && code == report.ExitHeld:
			code = report.ExitUnjudged
		case !k.Unjudged():
			code = report.ExitBroken
		}
	}
	return code
}

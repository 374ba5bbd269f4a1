package main

import (
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"webhooklab/lab/report"
	"webhooklab/scenarios"
)

//go:embed guarantees_help.txt
var guaranteesHelp string

// guaranteeing is what the user of lab guarantees asked for.
type guaranteeing struct{ suite, format, file, run string }

// guaranteesCommand writes what the contracts promise, from scenarios and laws.
func guaranteesCommand(args []string, out, errs io.Writer) int {
	o, err := parseGuarantees(args)
	if code, ended := usage(err, "guarantees", guaranteesHelp, out, errs); ended {
		return code
	}
	text, err := o.text()
	if err == nil {
		err = o.write(out, text)
	}
	if err != nil {
		return unjudged(errs, "guarantees", err)
	}
	return report.ExitHeld
}

func parseGuarantees(args []string) (o guaranteeing, err error) {
	f := flag.NewFlagSet("guarantees", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&o.suite, "suite", "", "")
	f.StringVar(&o.format, "format", "html", "")
	f.StringVar(&o.file, "o", "", "")
	f.StringVar(&o.run, "run", "", "")
	err = f.Parse(args)
	switch {
	case err != nil:
	case f.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.format != "html" && o.format != "markdown":
		err = fmt.Errorf("-format %q: want html or markdown", o.format)
	case o.suite != "":
		if _, err = scenarios.SuiteNamed(o.suite); err != nil {
			err = fmt.Errorf("-suite: %w", err)
		}
	}
	return o, err
}

func (o guaranteeing) text() ([]byte, error) {
	g := scenarios.Guarantees(o.suites()...)
	if o.run != "" {
		run, err := readRun(o.run)
		if err != nil {
			return nil, fmt.Errorf("-run: %w", err)
		}
		g.Run = &run
	}
	if o.format == "markdown" {
		return []byte(g.Markdown()), nil
	}
	return g.HTML()
}

func (o guaranteeing) suites() []scenarios.Suite {
	if suite, err := scenarios.SuiteNamed(o.suite); err == nil {
		return []scenarios.Suite{suite}
	}
	return scenarios.Suites
}

// readRun reads a run, and names the folder that a link such as logs/latest leads to.
func readRun(dir string) (report.Run, error) {
	run, err := report.ReadRun(dir)
	if err != nil {
		return run, err
	}
	folder, err := filepath.Abs(dir)
	if err == nil {
		folder, err = filepath.EvalSymlinks(folder)
	}
	run.Folder = filepath.Join(filepath.Base(filepath.Dir(folder)), filepath.Base(folder))
	return run, err
}

func (o guaranteeing) write(out io.Writer, text []byte) error {
	if o.file == "" {
		_, err := out.Write(text)
		return err
	}
	return os.WriteFile(o.file, text, 0o644)
}

// guarantees is what the gate promises, with what came of this run beside it.
func (g *gate) guarantees() report.Guarantees {
	all := scenarios.Guarantees(scenarios.Suites...)
	all.Run = &g.result
	return all
}

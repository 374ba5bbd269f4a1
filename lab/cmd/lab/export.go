package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"webhooklab/lab"
	"webhooklab/lab/export"
	"webhooklab/lab/report"
	"webhooklab/scenarios"
)

//go:embed export_help.txt
var exportHelp string

// exportCommand plays scenarios and writes their schedules down for psql and isolationtester.
func exportCommand(ctx context.Context, args []string, out, errs io.Writer) int {
	o, err := parseExport(args)
	var cases []exportCase
	if err == nil {
		cases, err = o.cases()
	}
	if code, ended := usage(err, "export", exportHelp, out, errs); ended {
		return code
	}
	x := &exporter{exportOptions: o, out: out, errs: errs}
	code, err := x.run(ctx, cases)
	if err != nil {
		return unjudged(errs, "export", err)
	}
	return code
}

type exportOptions struct {
	scenario, receiver, replay, format, dir string
}

func parseExport(args []string) (o exportOptions, err error) {
	f := flag.NewFlagSet("export", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&o.scenario, "scenario", "", "")
	f.StringVar(&o.receiver, "receiver", "", "")
	f.StringVar(&o.replay, "replay", "", "")
	f.StringVar(&o.format, "format", "", "")
	f.StringVar(&o.dir, "o", ".", "")
	err = f.Parse(args)
	switch {
	case err != nil:
	case f.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.scenario == "" && o.receiver == "" && o.replay == "",
		o.scenario != "" && (o.receiver != "" || o.replay != ""):
		err = errors.New("name what to export: by --scenario, by --receiver, or by --replay")
	case !slices.Contains([]string{"", "psql", "isolation"}, o.format):
		err = fmt.Errorf("--format %q: want psql or isolation", o.format)
	}
	return o, err
}

func (o exportOptions) forms() export.Forms {
	return export.Forms{Psql: o.format != "isolation", Isolation: o.format != "psql"}
}

// An exportCase is one scenario, played by one receiver.
type exportCase struct {
	suite   scenarios.Suite
	options scenarios.Options
	play    lab.Scenario
	name    string // of the files: the scenario, and the receiver unless it is the reference
	schema  string // the file of the tables
	flawed  bool
	line    *lab.Schedule // of a program, which is then played instead
	program lab.Program
}

func (o exportOptions) cases() (all []exportCase, err error) {
	switch {
	case o.replay != "":
		c, err := replayCase(o.replay, o.receiver)
		return []exportCase{c}, err
	case o.receiver != "":
		c, err := sinnerCase(o.receiver)
		return []exportCase{c}, err
	}
	for _, suite := range scenarios.Suites {
		for _, sc := range suite.Scenarios {
			if o.scenario == "all" || o.scenario == sc.Name {
				all = append(all, exportCase{suite: suite, play: sc, name: sc.Name,
					schema: suite.Name + ".schema.sql"})
			}
		}
	}
	if len(all) == 0 {
		_, _, err = scenarios.Named(o.scenario)
	}
	return all, err
}

func sinnerCase(name string) (exportCase, error) {
	var names []string
	for _, s := range scenarios.Sinners {
		if names = append(names, s.Name); s.Name != name {
			continue
		}
		_, sc, err := scenarios.Named(s.Scenario)
		c := exportCase{suite: s.Suite, options: s.Options(), play: sc, flawed: true,
			name: sc.Name + "." + s.Name, schema: s.Suite.Name + ".schema.sql"}
		if s.Alter != "" {
			c.schema = s.Suite.Name + "." + s.Name + ".schema.sql"
		}
		return c, err
	}
	return exportCase{}, fmt.Errorf("no receiver is broken by %q: want one of %s",
		name, strings.Join(names, ", "))
}

// replayCase is a line that lab explore or lab replay has printed.
func replayCase(text, receiver string) (c exportCase, err error) {
	line, err := lab.ParseSchedule(text)
	if err != nil {
		return c, err
	}
	c = exportCase{name: line.Program, line: &line}
	if c.suite, c.program, err = scenarios.ProgramNamed(line.Program); err != nil {
		return c, err
	}
	if line.Acts != nil {
		if c.program, err = c.program.Only(line.Acts); err != nil {
			return c, err
		}
	}
	c.schema = c.suite.Name + ".schema.sql"
	if receiver != "" {
		sinner, err := sinnerCase(receiver)
		if err != nil {
			return c, err
		}
		c.suite, c.options, c.schema, c.flawed = sinner.suite, sinner.options, sinner.schema, true
		c.name += "." + receiver
	}
	c.suite, c.options.Seed = scenarios.Explorable(c.suite), line.Seed
	return c, nil
}

// An exporter writes scripts.
type exporter struct {
	exportOptions
	out, errs io.Writer
}

func (x *exporter) run(ctx context.Context, cases []exportCase) (code int, err error) {
	stage, err := scenarios.OpenStage(ctx, func(line string) { fmt.Fprintln(x.errs, "lab: "+line) })
	if err != nil {
		return 0, err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopBound)
		defer cancel()
		err = errors.Join(err, stage.Close(ctx))
	}()
	for _, c := range cases {
		broken, err := x.export(ctx, stage, c)
		switch {
		case errors.Is(err, export.ErrNoScript) && x.scenario == "all":
			fmt.Fprintf(x.out, "%s: %v\n", c.name, err)
		case err != nil:
			return 0, err
		case broken && !c.flawed:
			code = report.ExitBroken
		}
	}
	return code, nil
}

// export plays one case and writes it down. It tells whether a law was broken.
func (x *exporter) export(
	ctx context.Context, stage *scenarios.Stage, c exportCase,
) (broken bool, err error) {
	b, err := stage.Bench(ctx, scenarios.Profile(c.play), c.suite, c.options)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, b.Close(context.WithoutCancel(ctx))) }()
	script, r, err := c.script(ctx, b)
	if err != nil {
		return false, err
	}
	written, err := script.Save(x.dir, c.schema, x.forms())
	if len(written) > 0 {
		path := filepath.Join(x.dir, c.schema)
		err = errors.Join(err, os.WriteFile(path, []byte(b.Tables), 0o644))
		written = append(written, path)
	}
	for _, path := range written {
		fmt.Fprintln(x.out, path)
	}
	return r.Verdict == lab.VerdictInvalid, err
}

// script plays the case on its bench and tells it again in plain SQL.
func (c exportCase) script(
	ctx context.Context, b *scenarios.Bench,
) (*export.Script, lab.Report, error) {
	r, err := c.run(ctx, b)
	if err != nil {
		return nil, r, err
	}
	if r.Verdict == lab.VerdictUnknown || r.Verdict == lab.VerdictNotRun {
		return nil, r, fmt.Errorf("%s: %s", c.name, r.Offences[0])
	}
	script, err := b.Export(ctx, r)
	if err != nil {
		return nil, r, err
	}
	script.Name = c.name
	return script, r, nil
}

func (c exportCase) run(ctx context.Context, b *scenarios.Bench) (lab.Report, error) {
	if c.line == nil {
		return b.Run(ctx, c.play), nil
	}
	if c.line.Gated {
		return lab.Report{}, errors.New("its statements are held inside PostgreSQL, by triggers " +
			"that only the lab has: nobody can type that")
	}
	r := b.Replay(ctx, c.program, *c.line)
	if r.NoFit != "" {
		return r.Report, fmt.Errorf("the schedule no longer fits: %s", r.NoFit)
	}
	return r.Report, nil
}

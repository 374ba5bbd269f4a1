package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"webhooklab/lab/postgres"
	"webhooklab/scenarios"
)

// A subject is a receiver on trial: a suite's reference, one that is broken on purpose, or a program
// of the user's own that stands in for a suite's reference.
type subject struct {
	name    string
	command string
	suite   scenarios.Suite
	options scenarios.Options
}

// subjectOf finds a receiver by the name of its suite or of its sin.
func subjectOf(name, command string) (s subject, err error) {
	s.name, s.command = name, command
	if s.suite, s.options, err = scenarios.SubjectNamed(name); err != nil {
		return s, fmt.Errorf("-receiver: %w; or a broken one of lab matrix", err)
	}
	if command != "" {
		s.options.Receiver = scenarios.AsProcess(strings.Fields(command)...)
	}
	return s, nil
}

// stage starts a disposable server with a clone for the subject, for orders.
func (s subject) stage(ctx context.Context, errs io.Writer) (*scenarios.Bench, func(), error) {
	s.suite = scenarios.Explorable(s.suite)
	return s.stageOn(ctx, postgres.Fast, errs)
}

// stageOn starts a disposable server of this kind with a clone for the subject.
func (s subject) stageOn(ctx context.Context, on postgres.Profile, errs io.Writer) (
	*scenarios.Bench, func(), error) {
	stage, err := scenarios.OpenStage(ctx, func(line string) { fmt.Fprintln(errs, "lab: "+line) })
	if err != nil {
		return nil, nil, err
	}
	b, err := stage.Bench(ctx, on, s.suite, s.options)
	closeStage := func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopBound)
		defer cancel()
		if b != nil {
			_ = b.Close(ctx) // the server goes with it
		}
		if err := stage.Close(ctx); err != nil {
			fmt.Fprintf(errs, "lab: stop the server: %v\n", err)
		}
	}
	if err != nil {
		closeStage()
		return nil, nil, err
	}
	return b, closeStage, nil
}

// flags are what a replay must be told to run the same receiver.
func (s subject) flags() (text string) {
	if s.name != s.suite.Name {
		text += " -receiver " + s.name
	}
	if s.command != "" {
		text += " -command '" + s.command + "'"
	}
	return text
}

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// setting is one value of a configuration file and the line it stands in, 0 if it isn't there.
type setting struct {
	text string
	line int
}

// UnmarshalYAML keeps the text as it was written, whatever type YAML would make of it.
func (s *setting) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return &yaml.TypeError{Errors: []string{
			fmt.Sprintf("line %d: a single value is wanted here", n.Line),
		}}
	}
	s.text, s.line = n.Value, n.Line
	return nil
}

// or is the text, or another where none was given.
func (s setting) or(otherwise string) string {
	if s.text == "" {
		return otherwise
	}
	return s.text
}

// faults collects what is wrong in one file, so that all of it can be mended at once.
type faults struct {
	file string
	all  []error
}

// add says in which line what is wrong and what to write instead.
func (f *faults) add(line int, format string, arguments ...any) {
	f.all = append(f.all, fmt.Errorf("%s:%d: %s", f.file, line, fmt.Sprintf(format, arguments...)))
}

func (f *faults) err() error { return errors.Join(f.all...) }

// duration reads a time such as 10s; zero stands for the default.
func (f *faults) duration(name string, s setting) time.Duration {
	if s.text == "" {
		return 0
	}
	d, err := time.ParseDuration(s.text)
	if err != nil || d <= 0 {
		f.add(s.line, "%s: %q is no time above zero: write one such as 10s or 500ms", name, s.text)
	}
	return d
}

// count reads a number from 1 to limit; zero stands for the default.
func (f *faults) count(name string, s setting, limit int) int {
	if s.text == "" {
		return 0
	}
	n, err := strconv.Atoi(s.text)
	if err != nil || n < 1 || n > limit {
		f.add(s.line, "%s: %q is no number from 1 to %d", name, s.text, limit)
	}
	return n
}

// flag reads true or false.
func (f *faults) flag(name string, s setting) bool {
	switch s.text {
	case "true":
		return true
	case "", "false":
	default:
		f.add(s.line, "%s: %q is neither true nor false", name, s.text)
	}
	return false
}

// choice reads one of some words.
func (f *faults) choice(name string, s setting, line int, words ...string) string {
	for _, word := range words {
		if s.text == word {
			return word
		}
	}
	if s.text == "" {
		f.add(line, "%s is missing: write one of %s", name, strings.Join(words, ", "))
	} else {
		f.add(s.line, "%s: there is no %q: write one of %s", name, s.text,
			strings.Join(words, ", "))
	}
	return ""
}

// secret reads what env:NAME or file:PATH stands for. What stands in the configuration itself is
// refused without being repeated: configurations are kept where secrets must not be.
func (f *faults) secret(name string, s setting) string {
	kind, rest, _ := strings.Cut(s.text, ":")
	var value, from string
	switch {
	case kind == "env" && rest != "":
		value, from = os.Getenv(rest), "the environment variable "+rest
	case kind == "file" && rest != "":
		path := rest
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(f.file), path)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			f.add(s.line, "%s: %v: create the file, readable for this process", name, err)
			return ""
		}
		value, from = strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"), path
	default:
		f.add(s.line, "%s: a secret does not stand in this file: write env:NAME of an "+
			"environment variable or file:PATH", name)
		return ""
	}
	if value == "" || value != strings.TrimSpace(value) {
		f.add(s.line, "%s: %s is empty, or begins or ends with blanks: set it to the secret alone",
			name, from)
		return ""
	}
	return value
}

package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// isTerminal: a person watches a screen that can be drawn on, and no CI system that seems to be one.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("CI") != "" {
		return false
	}
	if kind := os.Getenv("TERM"); kind == "" || kind == "dumb" {
		return false
	}
	return term.IsTerminal(int(f.Fd()))
}

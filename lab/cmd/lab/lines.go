package main

import "bytes"

// lines hands on whole lines of what is written to it, without their ends.
type lines struct {
	hear func(line []byte)
	rest []byte
}

func (l *lines) Write(text []byte) (int, error) {
	l.rest = append(l.rest, text...)
	for {
		line, rest, found := bytes.Cut(l.rest, []byte("\n"))
		if !found {
			return len(text), nil
		}
		l.hear(line)
		l.rest = rest
	}
}

// end hands on what is left of a line that nobody has ended.
func (l *lines) end() {
	if len(l.rest) > 0 {
		l.hear(l.rest)
	}
	l.rest = nil
}

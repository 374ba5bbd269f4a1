package main

import (
	"encoding/json"
	"fmt"
	"io"

	"webhooklab/lab/report"
)

// A show tells of a run while it goes: a line for each verdict as soon as it is there, to a person,
// and to another program that asked for it. On a terminal bars stand below.
type show struct {
	io.Writer // what else is to be read, line by line
	story     story
	bars      *bars // nil where nobody watches
	machine   *jsonLines
	verdicts  *report.Tail
}

func (g *gate) startShow() *show {
	s := &show{Writer: g.human(), machine: g.machine, verdicts: report.Follow(g.dir)}
	if g.terminal {
		s.bars = startBars(g.human(), g.expect(), nil)
		s.Writer = s.bars
	}
	s.story = story{out: s.Writer, dir: g.dir, colours: g.colours(), seed: g.seed}
	return s
}

// line hears one event of the tests. A verdict is kept before its test ends.
func (s *show) line(line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil {
		fmt.Fprintf(s, "%s\n", line)
		return
	}
	switch {
	case e.Action == "run":
		s.bars.running(e)
	case e.ended():
		s.tell()
		s.bars.ended(e)
	}
}

// tell tells what has been judged since the last time.
func (s *show) tell() {
	entries, programs := s.verdicts.Next()
	for _, e := range entries {
		s.story.tell(e)
		s.machine.entry(e)
		s.bars.judged(e)
	}
	for _, x := range programs {
		s.story.tell(x.Entry())
		s.machine.explored(x)
		s.bars.judged(x.Entry())
	}
}

// end tells the rest and takes the bars away.
func (s *show) end() {
	s.tell()
	s.bars.end()
}

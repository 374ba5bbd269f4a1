package report

import (
	"html/template"
	"strings"

	"webhooklab/lab"
)

// A scene is one play as the page shows it.
type scene struct {
	Play
	ID       string // of its anchor
	Counts   string // of its steps, waits and faults
	First    string // anchor of its first error, "" where it has none
	Again    string // the command that repeats it
	Timeline template.HTML
}

// scenes are all plays of a run, drawn.
type scenes struct {
	all    []scene
	sql    *statements
	failed map[string]bool // ids of those that are shown among the failures
}

func newScenes(plays []Play, seed uint64, sql *statements) (s scenes) {
	s.sql, s.failed = sql, map[string]bool{}
	ids := map[string]bool{}
	for _, p := range plays {
		id := anchor(p.Suite+"-"+p.Name, ids)
		s.all = append(s.all, newScene(p, id, seed, sql))
	}
	return s
}

// anchor makes an id of a name that none has yet.
func anchor(name string, taken map[string]bool) string {
	id := strings.ReplaceAll(fileName(name), ".", "-")
	for taken[id] {
		id += "_"
	}
	taken[id] = true
	return id
}

func newScene(p Play, id string, seed uint64, sql *statements) scene {
	s := scene{Play: p, ID: id, Again: Entry{
		Suite: p.Suite, Name: p.Scenario, Replay: p.Schedule}.Again(seed)}
	if p.Suite == Flawed {
		s.Again = Entry{Suite: Flawed, Name: p.Name}.Again(seed)
	}
	if len(p.Offences) > 0 {
		s.First = id + "-offence"
	}
	if p.Trace == nil {
		return s
	}
	s.Counts = countsOf(p.Trace)
	for _, m := range p.Trace.Marks {
		if strings.HasPrefix(m.Text, stopped) {
			s.First = id + "-stop"
		}
	}
	s.Timeline = template.HTML(newTimeline(p.Trace, id, sql).svg()) // escapes what it is given
	return s
}

// countsOf says of what a play was made.
func countsOf(trace *lab.Trace) string {
	steps, faults := 0, 0
	for _, c := range trace.Commands {
		if c.Step > 0 {
			steps++
		}
		if c.Fault != "" {
			faults++
		}
	}
	for _, m := range trace.Marks {
		if m.Fault && !strings.Contains(m.Text, ": dies") { // a death closes its connections
			faults++
		}
	}
	text := phrase(steps, "step", "steps")
	if n := len(trace.Waits); n > 0 {
		text += " · " + phrase(n, "proved wait", "proved waits")
	}
	if faults > 0 {
		text += " · " + phrase(faults, "fault", "faults")
	}
	return text
}

// find is the scene of this suite and name, nil for none.
func (s scenes) find(suite, name string) *scene {
	for i := range s.all {
		if s.all[i].Suite == suite && s.all[i].Name == name {
			return &s.all[i]
		}
	}
	return nil
}

// of are the scenes that show why an entry failed.
func (s scenes) of(e Entry) (found []scene) {
	for _, sc := range s.all {
		whole := sc.Suite == e.Suite && sc.Name == e.Name
		loop := sc.Suite == e.Suite && sc.Scenario == e.Name && sc.Verdict >= lab.VerdictUnknown
		replay := e.Suite == Replay && sc.Suite == Scenario && sc.Name == e.Name
		if (whole || loop || replay) && !s.failed[sc.ID] {
			s.failed[sc.ID] = true
			found = append(found, sc)
		}
	}
	return found
}

// caught are the scenes of broken receivers.
func (s scenes) caught() (all []scene) {
	for _, sc := range s.all {
		if sc.Suite == Flawed && sc.Verdict == lab.VerdictInvalid && !s.failed[sc.ID] {
			all = append(all, sc)
		}
	}
	return all
}

// groups are the scenes of scenarios that held, by contract; what no contract knows comes last.
func (s scenes) groups(promised []Contract) (all []group) {
	shown := map[string]bool{}
	for _, c := range promised {
		g := group{Title: c.Title}
		for _, p := range c.Promises {
			if sc := s.find(Scenario, p.Name); sc != nil && s.held(*sc) {
				g.Scenes = append(g.Scenes, *sc)
				shown[sc.ID] = true
			}
		}
		if len(g.Scenes) > 0 {
			all = append(all, g)
		}
	}
	rest := group{Title: "Other scenarios"}
	for _, sc := range s.all {
		if s.held(sc) && !shown[sc.ID] {
			rest.Scenes = append(rest.Scenes, sc)
		}
	}
	if len(rest.Scenes) > 0 {
		all = append(all, rest)
	}
	return all
}

func (s scenes) held(sc scene) bool {
	return sc.Suite == Scenario && sc.Verdict == lab.VerdictValid && !s.failed[sc.ID]
}

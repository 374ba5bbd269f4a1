package report

import (
	"fmt"
	"strings"

	"webhooklab/lab"
)

// A failure is one entry, or one explored schedule, that did not hold, with what shows why.
type failure struct {
	ID, First string
	Word      string // broken, not judged, no fit
	Suite     string
	Name      string
	Runs      int
	Law       string
	Offences  []lab.Offence
	Detail    string
	Again     string
	Free      bool // the seed repeats its input, not its order
	Scenes    []scene
}

func failuresOf(r Run, s scenes) (all []failure) {
	for _, e := range Failures(r.Entries) {
		f := failure{
			ID: fmt.Sprintf("failure-%d", len(all)+1), Word: word(e), Suite: e.Suite, Name: e.Name,
			Runs: e.Runs, Law: e.Law, Offences: e.Offences, Detail: e.Detail,
			Again: e.Again(r.Seed), Free: e.Suite == Free, Scenes: s.of(e),
		}
		if len(f.Offences) == 0 {
			f.Offences = []lab.Offence{{Verdict: e.Verdict, Text: e.because()}}
		}
		f.First = f.first()
		all = append(all, f)
	}
	for _, e := range r.Explored {
		all = append(all, exploredFailures(e, len(all), r.Seed, s)...)
	}
	return all
}

// first is the anchor of the first error: where the play was stopped, or else the offence.
func (f failure) first() string {
	for _, sc := range f.Scenes {
		if strings.HasSuffix(sc.First, "-stop") {
			return sc.First
		}
	}
	return f.ID
}

func word(e Entry) string {
	switch {
	case e.Verdict == lab.VerdictInvalid:
		return "broken"
	case e.NoFit:
		return "no fit"
	}
	return "not judged"
}

// exploredFailures makes a failure of each schedule that failed, or one of the whole program if
// none says why it is not valid.
func exploredFailures(e Explored, before int, seed uint64, s scenes) (all []failure) {
	if e.Verdict < lab.VerdictUnknown {
		return nil
	}
	found := e.Failures
	if len(found) == 0 {
		found = []ExploredFailure{{Law: e.Law, Text: Entry{Reason: e.Reason}.because()}}
	}
	for _, x := range found {
		f := failure{
			ID:   fmt.Sprintf("failure-%d", before+len(all)+1),
			Word: word(Entry{Verdict: e.Verdict}), Suite: Exploration, Name: e.Program, Law: x.Law,
			Offences: []lab.Offence{{Verdict: e.Verdict, Text: x.Text}},
			Again:    replayed(x.Line),
		}
		if x.Trace != nil || x.Transcript != "" {
			f.Scenes = []scene{newScene(Play{
				Suite: Exploration, Name: e.Program, Scenario: e.Program, Law: x.Law,
				Verdict: e.Verdict, Schedule: x.Line, Transcript: x.Transcript, Trace: x.Trace,
			}, f.ID+"-scene", seed, s.sql)}
		}
		f.First = f.first()
		all = append(all, f)
	}
	return all
}

// replayed is the command that plays an explored schedule again.
func replayed(line string) string {
	if !strings.Contains(line, "@") {
		return line
	}
	return "go run ./lab/cmd/lab replay " + quoted(line)
}

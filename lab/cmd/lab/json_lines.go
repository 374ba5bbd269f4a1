package main

import (
	"encoding/json"
	"io"
	"time"

	"webhooklab/lab"
	"webhooklab/lab/report"
)

// jsonLines tell another program of the run, one object a line, as things happen. Their fields are
// told in the help and stay as they are; new ones may come.
//
// A nil *jsonLines says nothing.
type jsonLines struct {
	out    io.Writer
	seed   uint64
	places report.Places
}

// jsonFormat grows when a field changes its meaning or goes.
const jsonFormat = 1

type jsonStarted struct {
	Event     string `json:"event"`
	Format    int    `json:"format"`
	Time      string `json:"time"`
	Seed      uint64 `json:"seed"`
	Loops     int    `json:"loops"`
	Sequences int    `json:"sequences"`
	Short     bool   `json:"short"`
	Scenario  string `json:"scenario,omitempty"`
	Law       string `json:"law,omitempty"`
	Replay    string `json:"replay,omitempty"`
	Logs      string `json:"logs"`
}

type jsonServer struct {
	Event  string `json:"event"`
	Server string `json:"server"`
}

// jsonEntry is a verdict: "scenario", "law" or "explored".
type jsonEntry struct {
	Event     string        `json:"event"`
	Suite     string        `json:"suite"`
	Name      string        `json:"name"`
	Law       string        `json:"law,omitempty"`
	Verdict   lab.Verdict   `json:"verdict"`
	NoFit     bool          `json:"no_fit,omitempty"`
	Runs      int           `json:"runs,omitempty"`
	Overlaps  int           `json:"overlaps,omitempty"`
	ElapsedMS int64         `json:"elapsed_ms"`
	Reason    string        `json:"reason,omitempty"`
	Detail    string        `json:"detail,omitempty"`
	Offences  []jsonOffence `json:"offences,omitempty"`
	Schedule  string        `json:"schedule,omitempty"`
	Again     string        `json:"again,omitempty"`
	Scene     string        `json:"scene,omitempty"`
	*jsonOrders
}

// jsonOrders is how much of an explored program was played.
type jsonOrders struct {
	Orders   int `json:"orders"`
	Explored int `json:"explored"`
	Pruned   int `json:"pruned"`
	Left     int `json:"left"`
	Cells    int `json:"cells"`
	Gates    int `json:"gates"`
}

type jsonOffence struct {
	Verdict lab.Verdict `json:"verdict"`
	Law     string      `json:"law,omitempty"`
	Text    string      `json:"text"`
	File    string      `json:"file,omitempty"`
	Line    int         `json:"line,omitempty"`
}

type jsonSummary struct {
	Event       string            `json:"event"`
	Code        int               `json:"code"`
	Verdict     string            `json:"verdict"`
	Reason      string            `json:"reason"`
	Valid       int               `json:"valid"`
	NotRun      int               `json:"not_run"`
	Unknown     int               `json:"unknown"`
	NoFit       int               `json:"no_fit"`
	Invalid     int               `json:"invalid"`
	FailedTests []string          `json:"failed_tests,omitempty"`
	Findings    report.Comparison `json:"findings"`
	ElapsedMS   int64             `json:"elapsed_ms"`
}

func (j *jsonLines) say(v any) {
	if j == nil {
		return
	}
	line, err := json.Marshal(v)
	if err != nil {
		panic(err) // these types have nothing that JSON can't hold
	}
	j.out.Write(append(line, '\n')) //nolint:errcheck // whoever reads it is gone
}

func (j *jsonLines) started(g *gate, now time.Time) {
	j.say(jsonStarted{
		Event: "started", Format: jsonFormat, Time: now.UTC().Format(time.RFC3339), Seed: g.seed,
		Loops: g.loops, Sequences: g.sequences, Short: g.short,
		Scenario: g.scenario, Law: g.law, Replay: g.replay, Logs: g.result.Folder,
	})
}

func (j *jsonLines) server(text string) { j.say(jsonServer{"server", text}) }

func (j *jsonLines) entry(e report.Entry) {
	kind := "scenario"
	if e.Suite == report.Law {
		kind = "law"
	}
	j.verdict(kind, e, nil)
}

func (j *jsonLines) explored(x report.Explored) {
	j.verdict("explored", x.Entry(), &jsonOrders{x.Orders, x.Explored, x.Pruned, x.Left, x.Cells, x.Gates})
}

func (j *jsonLines) verdict(kind string, e report.Entry, orders *jsonOrders) {
	if j == nil {
		return
	}
	line := jsonEntry{
		Event: kind, Suite: e.Suite, Name: e.Name, Law: e.Law, Verdict: e.Verdict,
		NoFit: e.NoFit, Runs: e.Runs, Overlaps: e.Overlaps, ElapsedMS: e.Elapsed.Milliseconds(),
		Reason: e.Reason, Detail: e.Detail, Schedule: e.Schedule(), jsonOrders: orders,
	}
	if e.Failed() {
		line.Again, line.Scene = e.Again(j.seed), e.Scene()
		for _, o := range e.Offences {
			file, n := j.places.Find(e, o)
			line.Offences = append(line.Offences, jsonOffence{o.Verdict, o.Law, o.Text, file, n})
		}
	}
	j.say(line)
}

func (j *jsonLines) summary(r report.Run) {
	code, reason := r.ExitCode()
	s := jsonSummary{Event: "summary", Code: code, Verdict: report.Headline(code), Reason: reason,
		FailedTests: r.FailedTests, Findings: r.Compared, ElapsedMS: r.Elapsed.Milliseconds()}
	for _, e := range r.Judged() {
		switch {
		case e.Verdict == lab.VerdictInvalid:
			s.Invalid++
		case e.NoFit:
			s.NoFit++
		case e.Verdict == lab.VerdictUnknown:
			s.Unknown++
		case e.Verdict == lab.VerdictNotRun:
			s.NotRun++
		default:
			s.Valid++
		}
	}
	j.say(s)
}

package report

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"time"

	"webhooklab/lab"
)

type (
	junitSuites struct {
		XMLName xml.Name `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		junitCounts
		Suites []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name string `xml:"name,attr"`
		junitCounts
		Properties []junitProperty `xml:"properties>property,omitempty"`
		Cases      []junitCase     `xml:"testcase"`
	}
	junitCounts struct {
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Time     string `xml:"time,attr"` // in seconds
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Class   string      `xml:"classname,attr"`
		Name    string      `xml:"name,attr"`
		File    string      `xml:"file,attr,omitempty"`
		Line    int         `xml:"line,attr,omitempty"`
		Time    string      `xml:"time,attr"`
		Failure *junitWrong `xml:"failure"` // a law was broken
		Error   *junitWrong `xml:"error"`   // it could not be judged
		Skipped *junitWrong `xml:"skipped"` // it was not run
		Out     string      `xml:"system-out,omitempty"`
		elapsed time.Duration
	}
	junitWrong struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// JUnit is the run in the XML that CI systems read: a case for each entry, whatever test told it,
// and one for each failed test that no entry explains. What ended the run early is a case too, so
// that no system takes a run without verdicts for one that has passed.
func JUnit(r Run, p Places) []byte {
	all := junitSuites{Name: "webhooklab"}
	for _, name := range suiteNames(r.Judged()) {
		var cases []junitCase
		for _, e := range r.Judged() {
			if e.Suite == name {
				cases = append(cases, r.junitCase(e, p))
			}
		}
		all.add(name, cases)
	}
	var tests []junitCase
	for _, name := range r.Silent() {
		tests = append(tests, junitCase{Name: name, Error: &junitWrong{
			Message: "the test failed, and no verdict says why", Type: "unknown",
			Text: r.Outputs[name],
		}})
	}
	all.add(Test, tests)
	if code, reason := r.ExitCode(); code != ExitHeld && all.Failures+all.Errors == 0 {
		all.add("run", []junitCase{{Name: "the run", Error: &junitWrong{
			Message: firstLine(reason), Type: Headline(code), Text: reason,
		}}})
	}
	all.Time = seconds(r.Elapsed)
	for i := range all.Suites {
		all.Suites[i].Properties = []junitProperty{
			{"server", r.Server}, {"seed", fmt.Sprint(r.Seed)}, {"evidence", r.Folder},
		}
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		panic(err) // these types have nothing that XML can't hold
	}
	return slices.Concat([]byte(xml.Header), text, []byte("\n"))
}

// suiteNames are the suites of these entries, in the order in which they are told.
func suiteNames(entries []Entry) (names []string) {
	for _, s := range suites {
		names = append(names, s.name)
	}
	for _, e := range entries {
		if !slices.Contains(names, e.Suite) {
			names = append(names, e.Suite)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return !slices.ContainsFunc(entries, func(e Entry) bool { return e.Suite == name })
	})
}

func (r Run) junitCase(e Entry, p Places) junitCase {
	at := p.of(e)
	c := junitCase{Name: e.Name, File: at.File, Line: at.Line, Time: seconds(e.Elapsed),
		elapsed: e.Elapsed}
	wrong := &junitWrong{Message: firstLine(e.because()), Type: e.Verdict.String()}
	switch {
	case e.Verdict == lab.VerdictInvalid:
		c.Failure = wrong
	case e.Verdict == lab.VerdictUnknown || e.NoFit:
		c.Error = wrong
	case e.Verdict == lab.VerdictNotRun:
		why := "not run: " + strings.TrimPrefix(e.because(), "not run: ")
		c.Skipped = &junitWrong{Message: firstLine(why), Text: why}
		return c
	default:
		c.Out = e.Detail
		return c
	}
	wrong.Text = Told(e, r.Seed)
	if len(e.Offences) > 0 {
		wrong.Message = firstLine(e.Offences[e.worst()].Text)
	}
	return c
}

func (all *junitSuites) add(name string, cases []junitCase) {
	if len(cases) == 0 {
		return
	}
	s := junitSuite{Name: name, Cases: cases}
	s.Tests = len(cases)
	took := time.Duration(0)
	for i, c := range cases {
		cases[i].Class = "webhooklab." + name
		cases[i].Time = seconds(c.elapsed)
		took += c.elapsed
		if c.Failure != nil {
			s.Failures++
		}
		if c.Error != nil {
			s.Errors++
		}
		if c.Skipped != nil {
			s.Skipped++
		}
	}
	s.Time = seconds(took)
	all.Tests += s.Tests
	all.Failures += s.Failures
	all.Errors += s.Errors
	all.Skipped += s.Skipped
	all.Suites = append(all.Suites, s)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

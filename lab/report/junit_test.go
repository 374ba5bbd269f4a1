package report_test

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/report"
)

// mixed is a run with one verdict of each kind, an explored program, and a test that failed on its
// own.
func mixed() report.Run {
	r := gate(append(clean[:6:6],
		report.Entry{
			Suite: report.Scenario, Name: "deadlock", Verdict: lab.VerdictInvalid,
			Law: "a deadlock is retried inside", Elapsed: 1500 * time.Millisecond,
			Offences: []lab.Offence{{Verdict: lab.VerdictInvalid, Law: "a deadlock is retried inside",
				Text: "first was answered \"unknown\", <want> \"applied\" & 100 %, it's\x00\n" +
					"  the scene is kept in /tmp/x/scenes/deadlock", At: "deadlock.go:4"}},
			Replay: "deadlock@42 first/UPDATE second/UPDATE ",
		},
		report.Entry{
			Suite: report.Law, Name: "TestShuffled", Verdict: lab.VerdictUnknown,
			Reason: "the server went away",
		},
		clean[6],
	)...)
	r.Explored = []report.Explored{
		{Program: "two_copies", Orders: 70, Explored: 12, Pruned: 50, Left: 8, Cells: 1},
		{Program: "old_new", Law: "acked is stored", Verdict: lab.VerdictInvalid, Explored: 3,
			Failures: []report.ExploredFailure{
				{Line: "old_new@42 a/COMMIT", Law: "acked is stored", Text: "no row"},
				{Line: "old_new@42 b/COMMIT", Law: "acked is stored", Text: "two rows"},
			}},
	}
	r.TestsFailed = true
	r.FailedTests = []string{"scenarios.TestScenarios/deadlock", "properties.TestShuffled",
		"webhook.TestBatch/one"}
	r.Outputs = map[string]string{"webhook.TestBatch/one": "batch_test.go:7: ```not``` equal\n"}
	return r
}

// project has a scenario, a broken receiver and the test of a law.
func project(t *testing.T) report.Places {
	t.Helper()
	root := filepath.Join(t.TempDir(), "checkout", "sub, 50%")
	for name, text := range map[string]string{
		"lab/deadlock.go":             "package lab\n",
		"lab/flawed/sin.go":           "package flawed\n\nvar _ = Sin{Name: \"check_then_insert\"}\n",
		"lab/report/some_test.go":     "package x\nvar e = Entry{Name: \"first_delivery\"}\n",
		"logs/old/retry.go":           "package logs\nvar e = Entry{Name: \"retry_during_commit\"}\n",
		"properties/order_test.go":    "package properties\n\nfunc TestShuffled(t *testing.T) {}\n",
		"scenarios/deadlock.go":       "package scenarios\n\n// Why.\nvar a = 1\n",
		"scenarios/first_delivery.go": "package scenarios\nvar First = Scenario{\n\tName: \"first_delivery\",\n}",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	return report.FindPlaces(root, filepath.Dir(root))
}

type junitFile struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Skipped  int `xml:"skipped,attr"`
	Suites   []struct {
		Name  string `xml:"name,attr"`
		Tests int    `xml:"tests,attr"`
		Cases []struct {
			Name    string  `xml:"name,attr"`
			File    string  `xml:"file,attr"`
			Line    int     `xml:"line,attr"`
			Failure *string `xml:"failure"`
			Error   *string `xml:"error"`
			Skipped *struct {
				Message string `xml:"message,attr"`
			} `xml:"skipped"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

func TestJUnitHasACaseForEachVerdict(t *testing.T) {
	r := mixed()
	text := report.JUnit(r, project(t))
	golden(t, "junit_failed.xml", string(text))
	var f junitFile
	require.NoError(t, xml.Unmarshal(text, &f))
	cases := 0
	for _, s := range f.Suites {
		require.Equal(t, s.Tests, len(s.Cases), s.Name)
		cases += len(s.Cases)
	}
	require.Equal(t, len(r.Judged())+1, cases) // and the test that no verdict explains
	require.Equal(t, cases, f.Tests)
	require.Equal(t, []int{2, 2, 1}, []int{f.Failures, f.Errors, f.Skipped})

	failed := f.Suites[0].Cases[2]
	require.Equal(t, "deadlock", failed.Name)
	require.Equal(t, "sub, 50%/scenarios/deadlock.go", failed.File)
	require.Equal(t, 4, failed.Line)
	for _, part := range []string{"law: a deadlock is retried inside", `offence: first was answered`,
		"schedule: deadlock@42 first/UPDATE second/UPDATE\n",
		"again: ./run_lab.sh --replay 'deadlock@42 first/UPDATE second/UPDATE'",
		"the scene is kept in"} {
		require.Contains(t, *failed.Failure, part)
	}
	require.Equal(t, "not run: this server is not the lab's to kill",
		f.Suites[0].Cases[3].Skipped.Message)
}

// A run that came to nothing must not look like one without failures.
func TestJUnitOfARunWithoutVerdictsHasAnError(t *testing.T) {
	var f junitFile
	require.NoError(t, xml.Unmarshal(
		report.JUnit(report.Run{Trouble: "no PostgreSQL was found\nlook here"}, report.Places{}), &f))
	require.Equal(t, 1, f.Errors)
	require.Contains(t, *f.Suites[0].Cases[0].Error, "no PostgreSQL was found")

	require.NoError(t, xml.Unmarshal(report.JUnit(gate(clean...), report.Places{}), &f))
	require.Equal(t, []int{0, 0}, []int{f.Failures, f.Errors})
}

package report_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/report"
)

func fingerprint(t *testing.T, text string, change ...func(*report.Entry)) string {
	t.Helper()
	e := report.Entry{Suite: report.Free, Name: "copies", Law: "once", Verdict: lab.VerdictInvalid,
		Offences: []lab.Offence{{Verdict: lab.VerdictInvalid, Text: text}}}
	for _, c := range change {
		c(&e)
	}
	found := report.Findings(gate(e))
	require.Len(t, found, 1)
	require.Len(t, found[0].Fingerprint, 12)
	return found[0].Fingerprint
}

func TestAFingerprintStaysWithItsFault(t *testing.T) {
	for _, same := range [][2]string{
		{"law accepted_once is broken by 2 row(s), the first: {\"a\": 1}",
			"law accepted_once is broken by 14 row(s), the first: {\"b\": 2}"},
		{"law model_decides is broken: {\"x\": true} is answered \"a\"\nlaw b is broken: c",
			"law model_decides is broken: 7 is answered \"b\""},
		{"sender waits 1.5s for pid 4711", "sender waits 12.25ms for pid 3"},
		{"no step came to an end", "no step came to an end\n  the scene is kept in /tmp/a/b"},
		{"read /tmp/one/x.txt", "read /home/two/three/x.txt"},
		{"event 0190a5c8-7e1f-7000-8000-00000000000a", "event f190a5c8-7e1f-7000-8000-0123456789ab"},
	} {
		require.Equal(t, fingerprint(t, same[0]), fingerprint(t, same[1]), same)
	}
	const text = "ERROR (SQLSTATE 40001)"
	one := fingerprint(t, text)
	for name, change := range map[string]func(*report.Entry){
		"code":    func(e *report.Entry) { e.Offences[0].Text = "ERROR (SQLSTATE 40P01)" },
		"word":    func(e *report.Entry) { e.Offences[0].Text = "WARNING (SQLSTATE 40001)" },
		"suite":   func(e *report.Entry) { e.Suite = report.Loop },
		"name":    func(e *report.Entry) { e.Name = "other" },
		"law":     func(e *report.Entry) { e.Law = "twice" },
		"verdict": func(e *report.Entry) { e.Offences[0].Verdict = lab.VerdictUnknown },
	} {
		require.NotEqual(t, one, fingerprint(t, text, change), name)
	}
	asLaw := func(e *report.Entry) {
		e.Suite = report.Law
		e.Offences = append([]lab.Offence{{Verdict: lab.VerdictUnknown, Text: "by the way"}},
			e.Offences...)
	}
	require.Equal(t, fingerprint(t, "law a is broken: x", asLaw),
		fingerprint(t, "law b is broken: y", asLaw))
	asReplay := func(e *report.Entry) { e.Suite = report.Replay }
	asScenario := func(e *report.Entry) { e.Suite = report.Scenario }
	require.Equal(t, fingerprint(t, "x", asReplay), fingerprint(t, "x", asScenario))
}

// The same kind of offence many times is one finding, and a test that a verdict explains is none.
func TestFindingsAreCountedOnce(t *testing.T) {
	r := mixed()
	r.Entries = append(r.Entries, r.Entries...)
	var names []string
	for _, f := range report.Findings(r) {
		names = append(names, f.Suite+" "+f.Name+": "+f.Offence)
	}
	require.Equal(t, []string{
		`scenario deadlock: first was answered "unknown", <want> "applied" & 100 %, it's` + "\x00",
		"explored old_new: no row", "explored old_new: two rows",
		"law TestShuffled: the server went away",
		"test webhook.TestBatch/one: the test failed, and no verdict says why",
	}, names)
}

func TestWhatIsNewStillThereFixedOrNotJudged(t *testing.T) {
	fails := func(suite, name, text string) report.Entry {
		return report.Entry{Suite: suite, Name: name, Verdict: lab.VerdictInvalid,
			Offences: []lab.Offence{{Verdict: lab.VerdictInvalid, Text: text}}}
	}
	dir := t.TempDir()
	before := gate(fails(report.Scenario, "stays", "x"), fails(report.Scenario, "mended", "x"),
		fails(report.Law, "TestNotRun", "x"), fails(report.Loop, "otherwise", "x"))
	before.TestsFailed, before.FailedTests = true, []string{"webhook.TestMended", "inbox.TestGone"}
	first := report.Compare(before, "", nil)
	require.Len(t, first.New, 6)
	require.Equal(t, "20260102T030405Z-42", first.New[0].Since)
	require.NoError(t, report.KeepFindings(dir, first))

	known, there, err := report.ReadFindings(dir)
	require.NoError(t, err)
	require.True(t, there)
	require.Equal(t, first.Open(), known)

	now := gate(fails(report.Scenario, "stays", "x"), fails(report.Scenario, "fresh", "x"),
		report.Entry{Suite: report.Replay, Name: "mended"},
		report.Entry{Suite: report.Law, Name: "TestNotRun", Verdict: lab.VerdictNotRun},
		fails(report.Loop, "otherwise", "y"))
	now.Folder = "logs/later"
	now.Passed = map[string]bool{"webhook.TestMended": true}
	c := report.Compare(now, "earlier", known)
	names := func(all []report.Finding) (n []string) {
		for _, f := range all {
			n = append(n, f.Name+" "+f.Since)
		}
		return n
	}
	const since = "20260102T030405Z-42"
	require.Equal(t, []string{"fresh later", "otherwise later"}, names(c.New))
	require.Equal(t, []string{"stays " + since}, names(c.Still))
	require.Equal(t, []string{"mended " + since, "webhook.TestMended " + since}, names(c.Fixed))
	require.Equal(t, []string{"TestNotRun " + since, "otherwise " + since, "inbox.TestGone " + since},
		names(c.Unjudged), "a finding that nobody looked for again is not fixed")
	require.Len(t, c.Open(), 6)

	text := report.Summary(report.Run{Compared: c})
	for _, line := range []string{"FINDINGS  (compared with earlier)", "  new ", "  still there ",
		"  fixed ", "  not judged again ", ", since " + since} {
		require.Contains(t, text, line)
	}
}

func TestNoFindingsAreReadFromNowhereAndNoneFromNonsense(t *testing.T) {
	dir := t.TempDir()
	_, there, err := report.ReadFindings(filepath.Join(dir, "none.jsonl"))
	require.NoError(t, err)
	require.False(t, there)
	require.NoError(t, report.Append(dir, held)) // verdicts are no findings
	_, _, err = report.ReadFindings(filepath.Join(dir, "verdicts.jsonl"))
	require.ErrorContains(t, err, "line 1, is no finding: it has no fingerprint")
}

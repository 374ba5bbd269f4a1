package report

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/toxiproxy"
)

// recordedRun is the run of testdata, in which two laws were broken.
func recordedRun(t testing.TB) (string, Run) {
	dir := filepath.Join("testdata", "run")
	entries, err := Read(dir)
	require.NoError(t, err)
	found, err := ReadExplored(dir)
	require.NoError(t, err)
	return dir, Run{
		Server: "PostgreSQL 15.18 · local binary postgres · fast", Seed: 42,
		Folder: "logs/20260102T030405Z-42", Elapsed: 301 * time.Second,
		Entries: entries, Explored: found, TestsFailed: true,
	}
}

// heldRun is the same run as if nothing had been broken.
func heldRun(t testing.TB) (string, Run) {
	dir, r := recordedRun(t)
	broken := func(v lab.Verdict) bool { return v >= lab.VerdictUnknown }
	r.Entries = slices.DeleteFunc(r.Entries, func(e Entry) bool { return broken(e.Verdict) })
	r.Explored = slices.DeleteFunc(r.Explored, func(e Explored) bool { return broken(e.Verdict) })
	r.TestsFailed = false
	return dir, r
}

func pageOf(t testing.TB, dir string, r Run) string {
	t.Helper()
	text, err := makePage(dir, r)
	require.NoError(t, err)
	return string(text)
}

var (
	idPattern   = regexp.MustCompile(` id="([^"]*)"`)
	linkPattern = regexp.MustCompile(` href="([^"]*)"`)
)

// links demands that ids are unique and that every link leads to one: nothing lies outside.
func links(t *testing.T, html string) {
	t.Helper()
	ids := map[string]bool{}
	for _, m := range idPattern.FindAllStringSubmatch(html, -1) {
		require.False(t, ids[m[1]], "the id %s is there twice", m[1])
		ids[m[1]] = true
	}
	for _, m := range linkPattern.FindAllStringSubmatch(html, -1) {
		if m[1] != "data:," { // no icon is asked for
			require.True(t, strings.HasPrefix(m[1], "#") && ids[m[1][1:]], "%s leads nowhere", m[1])
		}
	}
}

// inOrder demands that these texts follow each other.
func inOrder(t *testing.T, html string, texts ...string) {
	t.Helper()
	at := 0
	for _, text := range texts {
		i := strings.Index(html[at:], text)
		require.GreaterOrEqual(t, i, 0, "%q is missing, or too early", text)
		at += i + len(text)
	}
}

func TestThePageOfARunThatFailed(t *testing.T) {
	html := pageOf(t, filepath.Join("testdata", "run"), second(recordedRun(t)))
	links(t, html)
	inOrder(t, html,
		`<h1>FAIL</h1>`, `a law was broken: 2 verdicts are invalid.`,
		`<a href="#scenario-older_waits_for_newer-stop">Jump to the first error</a>`,
		`<h2>What was tried</h2>`, `3 of 4`, `scenarios stepped once`,
		`2 of 3`, `1,204 orders played, 160 branches pruned as equivalent, `+
			`12 branches left, 11 crash points struck`,
		`this server is not the lab&#39;s to kill`,
		`<h2>Promises and receivers</h2>`,
		`2 of 4 promises held · 1 broken · 1 not run · 1 broken receiver caught · 3 laws`,
		`<a href="#scenario-retry_during_commit"><code>retry_during_commit</code></a> `+
			`<span class="state held">held</span>`,
		`retry_during_commit 30× stepped`,
		`<a href="#flawed-check_then_insert"><code>check_then_insert</code></a>`,
		`<code>leased_copy_in_flight</code> <span class="state not in this run">`,
		`<h2>Failures</h2>`, `<details open class="failure" id="failure-1">`,
		`lock_order.go:`, `id="scenario-older_waits_for_newer-stop"`,
		`<details open class="failure" id="failure-2">`, `effects: 1, want 0`,
		`<h2>Explored</h2>`, `the budget of 1,200 orders was used up`,
		`<h2>Laws over drawn sequences</h2>`,
		`<h2>Broken receivers, caught</h2>`, `<details class="play">`,
		`<h2>Scenarios that held</h2>`, `<details class="play">`,
		`<h2>SQL, as it crossed the wire</h2>`, `INSERT INTO webhook_inbox`)
	require.NotContains(t, html, "ends like one that was")
}

func TestThePageOfARunThatHeld(t *testing.T) {
	html := pageOf(t, filepath.Join("testdata", "run"), second(heldRun(t)))
	links(t, html)
	inOrder(t, html, `<h1>PASS</h1>`, `all that was run held.`, `<h2>What was tried</h2>`,
		`Of 1 program, each order of the commands was played`,
		`Nothing is known of what is in the 12 branches that were left.`, `What they do not prove`)
	require.NotContains(t, html, "<h2>Failures</h2>")
	require.NotContains(t, html, ">Jump to the first error</a></p>\n<ol")
}

func second[A, B any](_ A, b B) B { return b }

// A page needs nothing but itself: no script, no other file, no network.
func TestThePageStandsAlone(t *testing.T) {
	dir, r := recordedRun(t)
	html := pageOf(t, dir, r)
	for _, asset := range []string{"<script", "<link rel=\"stylesheet", " src=", "url(", "@import",
		"http:", "https:", "<iframe", "javascript:"} {
		require.NotContains(t, html, asset)
	}
	for range 5 {
		require.Equal(t, html, pageOf(t, dir, r), "the same evidence makes the same page")
	}
}

// What a page says is proved is never more than what was run.
func TestThePageClaimsNoMoreThanWasRun(t *testing.T) {
	clear := Explored{Program: "two_copies", Explored: 14, Pruned: 56}
	for name, c := range map[string]struct {
		explored []Explored
		has, not string
	}{
		"nothing explored": {nil, "", "Explored:"},
		"all orders":       {[]Explored{clear}, "Of 1 program, each order", "Nothing is known"},
		"some left": {[]Explored{{Program: "b", Explored: 1, Left: 1}},
			"Nothing is known of what is in the 1 branch that was left", "each order of"},
		"one broken": {[]Explored{clear, {Program: "b", Explored: 1, Verdict: lab.VerdictInvalid}},
			"", "Explored:"},
		"one not judged": {[]Explored{clear, {Program: "b", Verdict: lab.VerdictUnknown, Cells: 2}},
			"", "Explored:"},
		"not run":    {[]Explored{{Program: "b", Verdict: lab.VerdictNotRun, Explored: 9}}, "", "9 orders"},
		"cells only": {[]Explored{{Program: "b", Cells: 2}}, "2 crash points were struck", "Explored:"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Join(allProofs(Run{Explored: c.explored}), "\n")
			require.Contains(t, text, c.has)
			require.NotContains(t, text, c.not)
		})
	}
}

// A run that never came to its tests has a page too.
func TestThePageOfARunWithoutAServer(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, WritePage("", Run{}))
	require.NoError(t, WritePage(dir, Run{Trouble: "no PostgreSQL was found"}))
	text, err := os.ReadFile(filepath.Join(dir, "report.html"))
	require.NoError(t, err)
	links(t, string(text))
	inOrder(t, string(text), "UNKNOWN", "no PostgreSQL was found", "none was reached", "Nothing was run.")
}

// A trace that can't be read is said, and no page is made of half the evidence.
func TestABrokenTraceIsNamed(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, saveFile(dir, traces, "scenario.a.json", []byte("{")))
	require.ErrorContains(t, WritePage(dir, Run{}), "scenario.a.json is no trace")
}

// Whatever a payload, a name or an error says, it stays text.
func TestHostileTextStaysText(t *testing.T) {
	const evil = "</title></svg></script><script>alert(1)</script><img src=x onerror=alert(1)>" +
		"\"' onload='alert(1)' {{.}} &lt;b&gt; \x00\x1b[2J\u202e \xff <!-- ]]>"
	dir := t.TempDir()
	offences := []lab.Offence{{Verdict: lab.VerdictInvalid, Law: evil, Text: evil, At: evil}}
	trace := hostileTrace(evil)
	r := lab.Report{Scenario: evil, Law: evil, Verdict: lab.VerdictInvalid, Offences: offences,
		Transcript: evil, Schedule: evil, Trace: trace}
	require.NoError(t, SavePlay(dir, Scenario, evil, r))
	require.NoError(t, SavePlay(dir, Flawed, evil, r))
	r.Scenario, r.Verdict, r.Offences = "fine", lab.VerdictValid, nil
	require.NoError(t, SavePlay(dir, Scenario, "fine", r))
	require.NoError(t, SaveContracts(dir, []Contract{{Name: evil, Title: evil,
		Promises: []Promise{{evil, evil}, {"fine", evil}}, Laws: []Promise{{evil, evil}}}}))
	html := pageOf(t, dir, Run{
		Server: evil, Folder: evil, Trouble: evil, FailedTests: []string{evil}, TestsFailed: true,
		Entries: []Entry{
			{Suite: Scenario, Name: evil, Law: evil, Verdict: lab.VerdictInvalid, Offences: offences,
				Detail: evil, Replay: evil},
			{Suite: Scenario, Name: "off", Verdict: lab.VerdictNotRun, Reason: evil},
			{Suite: Law, Name: evil, Law: evil, Detail: evil},
			{Suite: Flawed, Name: evil, CaughtBy: evil, Detail: evil},
		},
		Explored: []Explored{{Program: evil, Law: evil, Verdict: lab.VerdictInvalid, Reason: evil,
			Failures: []ExploredFailure{{Line: evil, Law: evil, Text: evil, Transcript: evil,
				Trace: trace}},
			Listed: []lab.Order{{Line: evil, Drawn: true}}, Ends: []lab.End{{Answers: evil, State: evil}},
			CrashPoints: []CrashPoint{{Command: evil, Other: evil, Fault: evil, None: evil},
				{Command: evil, Fault: evil, Transaction: evil, Told: evil, Again: evil, Answers: evil,
					Left: evil, Why: evil}}}},
	})
	links(t, html)
	require.NotContains(t, html, "<script")
	require.NotContains(t, html, "<img")
	bare := regexp.MustCompile(`"[^"<>]*"`).ReplaceAllString(html, "") // without the values
	require.False(t, regexp.MustCompile(`<[a-z]+[^<>]* on[a-z]+=`).MatchString(bare))
	require.NotContains(t, html, "\x00")
	require.NotContains(t, html, "\u202e")
	require.NotContains(t, html, "\xff")
	require.Contains(t, html, `\u0000\u001b[2J\u202e \xff`)
	wellFormed(t, newTimeline(trace, "x", &statements{}).svg())
}

func hostileTrace(evil string) *lab.Trace {
	sql := []toxiproxy.Statement{{SQL: evil, Args: [][]byte{[]byte(evil), nil, {0xff, 0}},
		Formats: []int16{0, 0, 1}}}
	return &lab.Trace{
		Fresh: "~1~", Sessions: []string{evil, "b"},
		Operations: []lab.TracedOperation{
			{Session: evil, What: evil, Began: 1, Ended: 20, Answer: evil, Error: evil}},
		Commands: []lab.TracedCommand{
			{Session: evil, Conn: 1, Step: 1, Label: evil, Statements: sql, Held: 2, Sent: 8, Answered: 9,
				Answer: toxiproxy.Answer{Tags: []string{evil}, TxStatus: 'T'}},
			{Session: "b", Conn: 1, Label: evil, Statements: sql, Sent: 3, Struck: 11, Fault: evil},
			{Session: evil, Conn: 1, Label: evil, Statements: sql, Sent: 12, Answered: 13,
				Answer: toxiproxy.Answer{SQLState: evil}},
		},
		Waits: []lab.TracedWait{{Session: "b", Command: evil, CommandIndex: 1, For: []string{evil},
			Wait: lab.Wait{LockType: evil, Mode: evil, Relation: evil, XID: evil}, From: 5, To: 11}},
		Rows: []lab.TracedRows{{After: 0, At: 14,
			Tables: []lab.TracedTable{{Name: evil, Rows: []string{evil}}}}},
		Marks: []lab.TracedMark{{At: 15, Text: evil}, {At: 16, Text: stopped + evil}},
	}
}

// A play that two entries failed by is drawn once, so that every link has one end.
func TestAPlayIsDrawnOnce(t *testing.T) {
	dir, r := recordedRun(t)
	i := slices.IndexFunc(r.Entries, func(e Entry) bool { return e.Verdict == lab.VerdictInvalid })
	again := r.Entries[i]
	again.Suite = Replay
	r.Entries = append(r.Entries, again)
	links(t, pageOf(t, dir, r))
}

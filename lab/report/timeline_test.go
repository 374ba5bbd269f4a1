package report

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/toxiproxy"
)

// The plays of testdata/run were recorded, and their times, process ids and transactions replaced.
func TestTimelines(t *testing.T) {
	plays, err := readPlays(filepath.Join("testdata", "run"))
	require.NoError(t, err)
	require.NotEmpty(t, plays)
	for _, p := range plays {
		got := newTimeline(p.Trace, p.Name, &statements{}).svg()
		wellFormed(t, got)
		file := filepath.Join("testdata", "timeline_"+p.Name+".svg")
		if flag.Lookup("update").Value.String() == "true" {
			require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err, "run the tests with -update, and look at what they wrote")
		require.Equal(t, string(want), got, p.Name)
	}
}

// wellFormed reads the drawing as strict XML.
func wellFormed(t *testing.T, svg string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err, svg)
	}
}

func load(t *testing.T, file string) *lab.Trace {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "run", "traces", file))
	require.NoError(t, err)
	var p Play
	require.NoError(t, json.Unmarshal(text, &p))
	return p.Trace
}

// No two events have the same line, whatever the clock says.
func TestEachEventHasLinesOfItsOwn(t *testing.T) {
	tl := newTimeline(load(t, "scenario.leased_crash_after_claim.json"), "x", &statements{})
	next := 0
	for _, m := range tl.moments {
		require.Equal(t, next, m.line)
		next += m.lines
	}
	require.Equal(t, next, tl.lines)
}

// long is a run of three sessions in which each step is one command.
func long(steps int) *lab.Trace {
	trace := &lab.Trace{Fresh: "~1~", Sessions: []string{"first", "second", "third"}}
	at := time.Duration(0)
	tick := func() time.Duration { at += 50 * time.Microsecond; return at }
	for i := range steps {
		c := lab.TracedCommand{
			Session: trace.Sessions[i%3], Conn: 1, PID: 7, Step: i + 1, Label: "UPDATE webhook_receipt",
			Statements: []toxiproxy.Statement{{SQL: "UPDATE webhook_receipt SET status = $1",
				Args: [][]byte{[]byte("processing"), []byte(fmt.Sprint("evt_", i))}}},
			Held: tick(), Sent: tick(), Answered: tick(),
			Answer: toxiproxy.Answer{Tags: []string{"UPDATE 1"}, TxStatus: 'T'},
		}
		if i%10 > 6 {
			c.Label, c.Answer = "COMMIT", toxiproxy.Answer{Tags: []string{"COMMIT"}, TxStatus: 'I'}
			trace.Rows = append(trace.Rows, lab.TracedRows{After: i, At: tick(),
				Tables: []lab.TracedTable{{Name: "receipts", Rows: []string{fmt.Sprint("evt_", i)}}}})
		}
		trace.Commands = append(trace.Commands, c)
	}
	return trace
}

func TestAThousandStepsWeighLessThanAMegabyte(t *testing.T) {
	dir := t.TempDir()
	trace := long(1000)
	require.NoError(t, SavePlay(dir, Scenario, "long", lab.Report{
		Scenario: "long", Trace: trace, Transcript: strings.Repeat("first: UPDATE x  -- UPDATE 1\n", 1000),
	}))
	text, err := makePage(dir, Run{Entries: []Entry{{Suite: Scenario, Name: "long"}}})
	require.NoError(t, err)
	require.Less(t, len(text), 1_000_000)
	require.Equal(t, 1000, strings.Count(string(text), "took "), "every step has its bar")
	t.Logf("%d bytes", len(text))
}

func TestTwoTransactionsOfOneSessionStandSideBySide(t *testing.T) {
	in := toxiproxy.Answer{Tags: []string{"INSERT 0 1"}, TxStatus: 'T'}
	out := toxiproxy.Answer{Tags: []string{"COMMIT"}, TxStatus: 'I'}
	trace := &lab.Trace{Fresh: "~", Sessions: []string{"pool"}, Commands: []lab.TracedCommand{
		{Session: "pool", Conn: 1, Label: "INSERT a", Sent: 1, Answered: 2, Answer: in},
		{Session: "pool", Conn: 2, Label: "INSERT b", Sent: 3, Answered: 4, Answer: in},
		{Session: "pool", Conn: 1, Label: "COMMIT", Sent: 5, Answered: 6, Answer: out},
		{Session: "pool", Conn: 2, Label: "COMMIT", Sent: 7, Answered: 8, Answer: out},
		{Session: "pool", Conn: 3, Label: "SELECT", Sent: 9, Answered: 10, Answer: out},
	}}
	tl := newTimeline(trace, "x", &statements{})
	require.Equal(t, 2, tl.tracks())
	spans := tl.lanes["pool"].spans
	require.Len(t, spans, 3)
	require.Equal(t, []int{0, 1, 0}, []int{spans[0].track, spans[1].track, spans[2].track})
	require.False(t, spans[0].lost)
	require.True(t, spans[1].transaction)
	require.False(t, spans[2].transaction)
}

// An arrow leads from who waits to who holds: a holder without a lane stands at the left edge.
func TestAnOutsiderIsWaitedForAtTheEdge(t *testing.T) {
	trace := load(t, "scenario.retry_during_commit.json")
	trace.Waits[0].For = []string{"an outsider"}
	got := newTimeline(trace, "x", &statements{}).svg()
	require.Contains(t, got, `<line x1="75%" x2="0%"`)
	require.Contains(t, got, "waits for an outsider: ShareLock on transactionid")
}

func TestOnlyWhatChangedIsShownOfTheRows(t *testing.T) {
	tl := newTimeline(&lab.Trace{Commands: make([]lab.TracedCommand, 1), Rows: []lab.TracedRows{
		{Tables: []lab.TracedTable{{Name: "a", Rows: []string{"1", "1", "2"}}}},
		{Tables: []lab.TracedTable{{Name: "a", Rows: []string{"1", "2", "3"}}}},
		{Tables: []lab.TracedTable{{Name: "a", Rows: []string{"1", "2", "3"}}}},
	}}, "x", &statements{})
	require.Equal(t, []string{"+ a  1", "+ a  1", "+ a  2"}, tl.changes(0))
	require.Equal(t, []string{"− a  1", "+ a  3"}, tl.changes(1))
	require.Empty(t, tl.changes(2))
}

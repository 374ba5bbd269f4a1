package main

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"webhooklab/lab/report"
)

// A board keeps each drawing of the bars, which is one write, while the test reads it.
type board struct {
	mu       sync.Mutex
	drawings []string
}

func (b *board) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drawings = append(b.drawings, string(text))
	return len(text), nil
}

// take returns what was drawn since the last call.
func (b *board) take() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.drawings
	b.drawings = nil
	return all
}

var escapes = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)

func withoutEscapes(text string) string { return escapes.ReplaceAllString(text, "") }

// drawn waits for one drawing that has all that is wanted in it.
func drawn(t *testing.T, b *board, tick chan<- any, want ...string) string {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; {
		tick <- time.Now()
		all := b.take()
		for _, text := range all {
			missing := func(w string) bool { return !strings.Contains(text, w) }
			if !slices.ContainsFunc(want, missing) {
				return text
			}
		}
		require.True(t, time.Now().Before(end), "%q is not in %q", want, all)
	}
}

func TestBarsCountWhatIsJudgedAndTextScrollsAbove(t *testing.T) {
	defer goleak.VerifyNone(t)
	var out board
	tick := make(chan any)
	x := expectation{cases: []expected{
		{report.Scenario, "a", time.Minute}, {report.Scenario, "b", time.Minute},
		{report.Law, "TestA", time.Minute},
	}, packages: map[string]packageTime{"scenarios": {0, true}, "properties": {0, true}}}
	b := startBars(&out, x, tick)
	text := drawn(t, &out, tick, "building the tests")
	require.Contains(t, text, "  scenarios         "+strings.Repeat("─", barWidth)+" 0/2")
	require.NotContains(t, text, "loops", "there will be none")

	b.running(event{Action: "run", Package: "webhooklab/scenarios", Test: "TestScenarios/a"})
	b.running(event{Action: "run", Package: "webhooklab/properties", Test: "TestA"})
	b.running(event{Action: "run", Package: "webhooklab/properties", Test: "TestNoLaw"})
	text = drawn(t, &out, tick, " 0/2  a", " 0/1  TestA", "about 2 min left")
	require.Less(t, strings.Index(text, "scenarios"), strings.Index(text, "laws"))

	b.Write([]byte("held  a\n"))
	b.judged(report.Entry{Suite: report.Scenario, Name: "a", Elapsed: time.Minute})
	text = drawn(t, &out, tick, "held  a", " 1/2")
	require.Less(t, strings.Index(text, "held  a"), strings.Index(text, "scenarios"))
	require.Contains(t, text, strings.Repeat("━", barWidth/2)+strings.Repeat("─", barWidth/2))

	// More than was expected makes the whole longer, and what is done never less.
	for _, name := range []string{"b", "c"} {
		b.judged(report.Entry{Suite: report.Scenario, Name: name})
	}
	drawn(t, &out, tick, " 3/3\n")
	b.ended(event{Action: "pass", Package: "webhooklab/scenarios"})
	drawn(t, &out, tick, "about 60 s left ·")
	b.ended(event{Action: "fail", Package: "webhooklab/properties", Test: "TestA"}) // no verdict
	drawn(t, &out, tick, " 0/1\n", "nearly done")

	b.Write([]byte("last words\n"))
	done := make(chan struct{})
	go func() { b.end(); close(done) }()
	<-done
	last := out.take()
	require.Contains(t, withoutEscapes(strings.Join(last, "")), "last words\n")
	require.Equal(t, "\x1b[J", last[len(last)-1][len(last[len(last)-1])-3:], "nothing is left")
}

func TestNoBarsAreDrawnWhereNobodyWatches(t *testing.T) {
	var b *bars
	b.running(event{})
	b.judged(report.Entry{})
	b.ended(event{})
	b.end()
}

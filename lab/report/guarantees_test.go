package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"webhooklab/lab"
)

// oneContract is a contract with a bit of everything.
func oneContract() Guarantees {
	return Guarantees{
		NotPromised: []string{"Speed."},
		Contracts: []Guaranteed{{
			Name: "shop", Title: "The shop", NotPromised: []string{"Deltas."},
			Promises: []Guarantee{
				{Law: "one event makes one change", Stories: []Story{
					{Name: "copy", Why: "Two copies.", Transcript: "first: COMMIT\n",
						Stops: []Stopped{{"looks_first", "it comes again"}}},
					{Name: "copy_again", Why: "Two copies.", Transcript: "retry: COMMIT\n"},
					{Name: "crowd", Why: "Eight copies.", Conditions: []string{"They run freely."}},
				}},
				{Law: "what was acknowledged stays", Stories: []Story{{Name: "crash"}}},
			},
			Situations: []Situation{
				{Name: "two_copies", Law: "one event makes one change",
					Sessions: []string{"first: deliver"}, Command: "lab explore"},
				{Name: "inside", Law: "one event makes one change", Inside: true,
					Stops: []Stopped{{"sinner_inside", "two rows"}}},
			},
			Cuts: []Situation{{Name: "new_event", Law: "it stays", Command: "lab sweep"}},
			Laws: []Demand{{"accepted_once", "an event is accepted once", "SELECT 1"}},
		}},
	}
}

func htmlOf(t testing.TB, g Guarantees) string {
	t.Helper()
	text, err := g.HTML()
	require.NoError(t, err)
	return string(text)
}

// Without a run nothing is said to have held.
func TestGuaranteesWithoutARun(t *testing.T) {
	g := oneContract()
	html := htmlOf(t, g)
	links(t, html)
	wellFormed(t, html)
	inOrder(t, html, `<h1>The shop</h1>`, `No run stands behind this page`,
		`2 promises · 4 scenarios · 2 broken receivers to be stopped`,
		`one event makes one change</h3>`, `Two copies.`, `<code>copy</code></summary>`,
		`first: COMMIT`, `stops <code>looks_first</code>: it comes again`, `retry: COMMIT`,
		`They run freely.`, `<code>two_copies</code>`, `first: deliver`, `not known without a run`,
		`<code>new_event</code>`, `played by <code>lab sweep</code>`,
		`accepted_once`, `SELECT 1`, `Deltas.`, `Speed.`)
	require.Equal(t, 1, strings.Count(html, "Two copies."), "a story is told once")
	for _, text := range []string{html, g.Markdown()} {
		require.NotRegexp(t, `held|caught|PASS|every order:`, strings.ReplaceAll(text, pageCSS, ""))
	}
}

// What came of a run stands beside each name, and what was not in it is not said to have held.
func TestGuaranteesOfARun(t *testing.T) {
	g := oneContract()
	g.Run = &Run{Server: "PostgreSQL 15.18", Seed: 7, Entries: []Entry{
		{Suite: Scenario, Name: "copy"},
		{Suite: Loop, Name: "copy", Runs: 30},
		{Suite: Scenario, Name: "copy_again", Verdict: lab.VerdictInvalid},
		{Suite: Loop, Name: "copy_again", Verdict: lab.VerdictUnknown, Runs: 30},
		{Suite: Free, Name: "copy_again"},
		{Suite: Scenario, Name: "crash", Verdict: lab.VerdictNotRun},
		{Suite: Flawed, Name: "looks_first"},
		{Suite: Flawed, Name: "sinner_inside", Verdict: lab.VerdictUnknown},
		{Suite: Law, Name: "crowd"},
	}, Explored: []Explored{
		{Program: "two_copies", Suite: "shop", Orders: 70, Explored: 12, Pruned: 50, Left: 8},
		{Program: "two_copies", Suite: "other", Explored: 99},
		{Program: "inside", Suite: "shop", Explored: 4, Gates: 3},
		{Program: "inside", Suite: "shop", Explored: 4, Gates: 3},
		{Program: "new_event", Suite: "shop", Cells: 70, Verdict: lab.VerdictInvalid},
		{Program: "new_event", Suite: "shop", Cells: 8},
		{Program: "killed_anywhere", Suite: "shop", Law: "it stays", Cells: 11},
	}}
	html := htmlOf(t, g)
	links(t, html)
	wellFormed(t, html)
	inOrder(t, html, `FAIL: a law was broken`, `PostgreSQL 15.18`, `0 of 2 promises held`,
		`<code>copy</code> <span class="state held">held</span> <span class="note">30× stepped`,
		`<code>looks_first</code> <span class="state caught">caught</span>`,
		`<code>copy_again</code> <span class="state broken">broken</span>`, `30× stepped: not judged`,
		`<code>crowd</code> <span class="state not in this run">`,
		`<code>crash</code> <span class="state not run">`,
		`not every order: 12 of 70 orders played, 50 branches pruned as equivalent, 8 branches left`,
		`held</span> <span class="note">as far as it was played</span>`,
		`<code>sinner_inside</code> <span class="state not judged">`,
		`every order: 4 orders played, 3 stops at gates inside statements`,
		`<code>killed_anywhere</code>`, `11 crash points struck`,
		`70 crash points struck <span class="state broken">`, `8 crash points struck <span`)
	require.Contains(t, g.Markdown(), "8 branches left (held as far as it was played)")
	require.Contains(t, g.Markdown(), "`killed_anywhere`: it stays\n\n- 11 crash points struck (held)")
	require.Equal(t, 1, strings.Count(html, "every order: 4 orders"), "said once")
	require.NotContains(t, html, "99 orders")

	g.Run = &Run{Entries: []Entry{{Suite: Scenario, Name: "crash"}}}
	require.Contains(t, htmlOf(t, g), "1 of 2 promises held")
	g.Run = &Run{Trouble: "no PostgreSQL was found"}
	inOrder(t, htmlOf(t, g), "UNKNOWN: no PostgreSQL was found", "0 of 2 promises held",
		"not in this run; played by <code>lab explore</code>")
}

// The page needs nothing but itself, and the same promises make the same page.
func TestGuaranteesStandAlone(t *testing.T) {
	html := htmlOf(t, oneContract())
	for _, asset := range []string{"<script", "<link rel=\"stylesheet", " src=", "url(", "@import",
		"http:", "https:", "<iframe", "javascript:"} {
		require.NotContains(t, html, asset)
	}
	require.Equal(t, html, htmlOf(t, oneContract()))
}

// Whatever a name, a reason or a transcript says, it stays text.
func TestHostileGuaranteesStayText(t *testing.T) {
	const evil = "</title></pre><script>alert(1)</script>`\n````\n# {{.}} | \x1b[2J\u202e \xff"
	g := Guarantees{NotPromised: []string{evil}, Contracts: []Guaranteed{{
		Name: "shop", Title: evil, NotPromised: []string{evil},
		Promises: []Guarantee{{Law: evil, Stories: []Story{{Name: evil, Why: evil,
			Conditions: []string{evil}, Transcript: evil, Stops: []Stopped{{evil, evil}}}}}},
		Situations: []Situation{{Name: evil, Law: evil, Sessions: []string{evil}, Command: evil}},
		Laws:       []Demand{{evil, evil, evil}},
	}}, Run: &Run{Server: evil, Trouble: evil, Explored: []Explored{{Program: evil, Reason: evil}}}}
	html := htmlOf(t, g)
	links(t, html)
	wellFormed(t, html)
	for _, text := range []string{html, g.Markdown()} {
		require.NotContains(t, text, "\x1b")
		require.NotContains(t, text, "\u202e")
	}
	require.NotContains(t, html, "<script")
	outside := true
	for line := range strings.Lines(g.Markdown()) {
		if strings.HasPrefix(line, "`````") {
			outside = !outside
		}
		require.False(t, outside && strings.HasPrefix(line, "# {{"), line)
		require.False(t, outside && strings.Contains(strings.ReplaceAll(line,
			"`</title></pre><script>alert(1)</script>", ""), "<script>"), line)
	}
}

// A run is read back from its folder as it was told, trouble included.
func TestReadRun(t *testing.T) {
	for name, r := range map[string]Run{
		"held": {Server: "PostgreSQL 15.18 · fast", Seed: 42, Elapsed: 301600 * time.Millisecond,
			Entries:  []Entry{{Suite: Scenario, Name: "copy"}},
			Explored: []Explored{{Program: "two_copies", Explored: 3}}},
		"broken":  {Entries: []Entry{{Suite: Scenario, Name: "a", Verdict: lab.VerdictInvalid}}},
		"silent":  {Entries: []Entry{{Suite: Scenario, Name: "copy"}}, TestsFailed: true},
		"trouble": {Trouble: "no PostgreSQL was found"},
		"both": {Trouble: "the disk is full",
			Entries: []Entry{{Suite: Scenario, Name: "a", Verdict: lab.VerdictInvalid}}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, e := range r.Entries {
				require.NoError(t, Append(dir, e))
			}
			for _, x := range r.Explored {
				require.NoError(t, AppendExplored(dir, x))
			}
			summary := filepath.Join(dir, "summary.txt")
			require.NoError(t, os.WriteFile(summary, []byte(Summary(r)), 0o644))
			got, err := ReadRun(dir)
			require.NoError(t, err)
			require.Equal(t, Guarantees{Run: &r}.Verdict(), Guarantees{Run: &got}.Verdict())
			require.Equal(t, []any{r.Seed, r.Elapsed, r.Entries, r.Explored},
				[]any{got.Seed, got.Elapsed, got.Entries, got.Explored})
			if r.Server != "" {
				require.Equal(t, r.Server, got.Server)
			}
		})
	}
	_, err := ReadRun(t.TempDir())
	require.ErrorContains(t, err, "is no folder of a run that has ended")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "summary.txt"), []byte("PASS: x.\n"), 0o644))
	_, err = ReadRun(dir)
	require.ErrorContains(t, err, "has no verdict, server, seed and time")
}

// A phone, a tablet and a desk show all of it, folded and unfolded, and nothing is asked for.
func TestTheGuaranteesInABrowser(t *testing.T) {
	ctx := openBrowser(t)
	heard := listen(t, ctx)
	g := oneContract()
	g.Contracts[0].Promises[0].Stories[0].Transcript = strings.Repeat("long_", 80) + "\n"
	g.Contracts[0].Situations[0].Command += strings.Repeat("_long", 40)
	g.Run = &Run{Server: strings.Repeat("PostgreSQL", 12)}
	file := filepath.Join(t.TempDir(), "guarantees.html")
	require.NoError(t, os.WriteFile(file, []byte(htmlOf(t, g)), 0o644))
	for _, w := range windows {
		do(t, ctx, chromedp.EmulateViewport(w.width, w.height))
		do(t, ctx, chromedp.Navigate("file://"+file))
		for range 2 {
			require.LessOrEqual(t, ask[float64](t, ctx, `document.documentElement.scrollWidth`),
				ask[float64](t, ctx, `innerWidth`), "wider than its window of %d", w.width)
			require.Empty(t, ask[[]string](t, ctx, wide), "these stick out of the window")
			ask[bool](t, ctx, `(document.querySelectorAll("details").forEach(d => d.open = true), true)`)
		}
		require.Empty(t, ask[[]string](t, ctx, dead), "links that lead nowhere")
	}
	heard.nothingBut(t, "file://"+file)
}

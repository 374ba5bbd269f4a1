package report

import (
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
)

// What a program's counts count stands folded below them: each order with its answers and what they
// left, each crash point with what came of it, the broken one first.
func TestThePageListsWhatWasExplored(t *testing.T) {
	text := pageOf(t, "testdata/run", second(recordedRun(t)))
	inOrder(t, text, `<h2>Explored</h2>`,
		`4 of 20 orders played, 4 branches pruned as equivalent`,
		`<details><summary>4 orders, 2 different ends</summary>`,
		`Beside them: 2 branches never entered as equivalent, `+
			`2 orders given up half way as equivalent.`,
		`<td>1 <code>two_copies@42 first:INSERT`, `<td>applied duplicate</td><td>rows&nbsp;1</td>`,
		`<td>4 <code>two_copies@42 retry:INSERT`, `<td>duplicate applied</td><td>rows&nbsp;1</td>`,
		`Rows 1, left by 4 orders:`, `events {&#34;source&#34;:&#34;shop&#34;`,
		`1,200 of 1,680 orders played`,
		`<details><summary>12 crash points, of which 1 cannot exist</summary>`,
		`<td>5 <code>UPDATE webhook_receipt</code></td><td>request lost (FIN)</td><td>aborted</td>`+
			`<td>unknown</td><td>processed</td><td>effects 1→2</td>`+
			`<td><span class="state broken">broken</span> effects: 1, want 0</td>`,
		`<td>1 <code>INSERT webhook_receipt</code></td><td>request lost (FIN)</td><td>read-only</td>`,
		`<td colspan="5">cannot exist: COMMIT is no statement that can be cancelled</td>`)
	require.Equal(t, 2, strings.Count(text, `<tr class="listed">`), "a list of nothing is none")
}

// Of two sessions the list says where the other stood, and what all were told.
func TestThePageListsPairs(t *testing.T) {
	x := Explored{Program: "two_at_once", CrashPoints: []CrashPoint{
		{Place: 1, Command: "COMMIT", Other: "before COMMIT", Fault: "backend terminated",
			Transaction: "aborted", Told: "unknown", Answers: "applied duplicate", Left: "as once"},
		{Place: 2, Command: "COMMIT", Other: "past it", Fault: "backend terminated", None: "it waits"},
	}}
	text := pageOf(t, t.TempDir(), Run{Explored: []Explored{x}})
	inOrder(t, text, `<th>the other stands</th>`, `<th>all told in the end</th>`,
		`<td>before COMMIT</td><td>backend terminated</td><td>aborted</td><td>unknown</td><td>–</td>`+
			`<td>applied duplicate</td><td>as once</td>`,
		`<td>past it</td><td>backend terminated</td><td colspan="6">cannot exist: it waits</td>`)
}

// listedRun has one program of so many orders, each with an end of its own, and so many crash points.
// The last of each is broken.
func listedRun(n int) Run {
	x := Explored{Program: "two", Verdict: lab.VerdictInvalid}
	for i := range n {
		verdict := lab.VerdictValid
		if i == n-1 {
			verdict = lab.VerdictInvalid
		}
		line, point := fmt.Sprintf("two@1 a:%d", i), fmt.Sprintf("point %d", i)
		x.Listed = append(x.Listed, lab.Order{Line: line, Verdict: verdict, End: i})
		x.Ends = append(x.Ends, lab.End{Answers: "applied", State: fmt.Sprintf("row %d", i)})
		x.CrashPoints = append(x.CrashPoints, CrashPoint{Command: point, Verdict: verdict})
	}
	return Run{Explored: []Explored{x}}
}

// No entry of a list is lost: it is shown once, or counted among those that explored.jsonl has. One
// that failed is always shown.
func TestNoEntryOfAListIsLost(t *testing.T) {
	for _, n := range []int{1, 2, listBound, listBound + 1, 5 * listBound} {
		text := html.UnescapeString(pageOf(t, t.TempDir(), listedRun(n)))
		for entry, more := range map[string]string{
			`<code>two@1 a:\d+</code>`:               `([\d,]+) more orders?, `,
			`<code>point \d+</code>`:                 `([\d,]+) more crash points?, `,
			`Rows \d+, left by 1 order:</p><pre>row`: `and the ([\d,]+) sets? of rows that only they left`,
		} {
			shown := map[string]bool{}
			for _, e := range regexp.MustCompile(entry).FindAllString(text, -1) {
				require.False(t, shown[e], "%s is there twice", e)
				shown[e] = true
			}
			require.Len(t, shown, min(n, listBound), entry)
			rest := 0
			if m := regexp.MustCompile(more).FindStringSubmatch(text); m != nil {
				rest, _ = strconv.Atoi(m[1])
			}
			require.Equal(t, n, len(shown)+rest, "%d of %s shown", len(shown), entry)
		}
		require.Contains(t, text, fmt.Sprintf(`<code>two@1 a:%d</code>`, n-1))
		require.Contains(t, text, fmt.Sprintf(`<code>point %d</code>`, n-1))
	}
}

// An order whose end is not among those that are told is listed with the others.
func TestAnOrderWithoutItsEndIsListed(t *testing.T) {
	x := Explored{Ends: []lab.End{{State: "row"}}, Listed: []lab.Order{{End: -1}, {End: 0}, {End: 1}}}
	all, left := x.rows()
	require.Len(t, all, 3)
	require.Equal(t, []leftRows{{Number: 1, After: 2, Rows: "?"}, {Number: 2, After: 1, Rows: "row"}},
		left)
}

// The rest of a list is never called better than it is.
func TestTheRestOfAListIsTold(t *testing.T) {
	r := listedRun(listBound + 2)
	_, more := bounded(r.Explored[0].CrashPoints, "more point", "more points")
	require.Equal(t, "2 more points, none of which failed: the program's line in explored.jsonl, "+
		"beside this page, has all 42", more)
	for i := range r.Explored[0].CrashPoints {
		r.Explored[0].CrashPoints[i].Verdict = lab.VerdictUnknown
	}
	_, more = bounded(r.Explored[0].CrashPoints, "more point", "more points")
	require.Contains(t, more, "2 more points, some of which failed")
}

// Orders that were drawn are told from those of the tree, and those without gates from those with.
func TestListsTellWhereOrdersComeFrom(t *testing.T) {
	with := Explored{Ends: []lab.End{{}}, Listed: []lab.Order{{Line: "a"}, {Line: "b", Drawn: true}}}
	without := Explored{Ends: []lab.End{{}}, Listed: []lab.Order{{Line: "c"}}}
	with.Control = &without
	p := programsOf([]Explored{with})[0]
	require.Equal(t, "1 order and 1 drawn at random, 1 end", p.Lists[0].Title)
	require.Equal(t, "1 order, 1 end, without gates", p.Lists[1].Title)
	require.False(t, programsOf([]Explored{{Explored: 3, Cells: 2}})[0].Folded())
}

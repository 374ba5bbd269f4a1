package lab

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// struckAtCommit is a cell of an act of two commands, INSERT and COMMIT, that was cut at its COMMIT
// and judged by what these say.
func struckAtCommit(what truth, seen, again, left string) Cell {
	const empty, full = "", "events paid"
	insert, commit := Step{What: "INSERT"}, Step{What: "COMMIT"}
	by := verdictOf{
		clean: clean{
			points: []point{{step: insert, seen: empty}, {step: commit, seen: full}},
			began:  empty, state: full,
			answers: []string{"applied"}, repeats: []string{"duplicate"},
		},
		cutter: &cutter{
			lab: &Lab{cfg: Config{State: State{{Name: "events", Once: true}}}},
			at:  point{step: commit, seen: seen}, what: what,
		},
		healer: &healer{answers: []string{"applied"}, learned: []string{"unknown"},
			first: []string{again}, last: []string{again}, tries: []int{1}},
		state: left,
	}
	c := Cell{Place: 2, Command: "COMMIT", Fate: Untold}
	c.judge(by)
	return c
}

// A cell is valid only if the server's word, what everybody can see, the redelivery's answer and what
// is left in the end all tell the same story.
func TestCellsAreJudged(t *testing.T) {
	const full = "events paid"
	committed := truth{xid: "7", status: "committed"}
	aborted := truth{xid: "7", status: "aborted"}
	for _, c := range []struct {
		name              string
		what              truth
		seen, again, left string
		verdict           Verdict
		fate              Fate
	}{
		{"committed, and a copy when it comes again", committed, full, "duplicate", full,
			VerdictValid, Committed},
		{"aborted, and as new when it comes again", aborted, "", "applied", full,
			VerdictValid, Aborted},
		{"the server says committed, and no row is there", committed, "", "applied", full,
			VerdictUnknown, Committed},
		{"the server says aborted, and the row is there", aborted, full, "duplicate", full,
			VerdictUnknown, Aborted},
		{"half of it is there", aborted, "events half", "applied", full,
			VerdictUnknown, Untold},
		{"committed, and done again", committed, full, "applied", full,
			VerdictInvalid, Committed},
		{"aborted, and taken for a copy", aborted, "", "duplicate", full,
			VerdictInvalid, Aborted},
		{"it is there twice in the end", committed, full, "duplicate", full + "\n" + full,
			VerdictInvalid, Committed},
		{"it is lost in the end", aborted, "", "applied", "", VerdictInvalid, Aborted},
		{"without a transaction id the rows decide", truth{}, full, "duplicate", full,
			VerdictValid, Committed},
	} {
		got := struckAtCommit(c.what, c.seen, c.again, c.left)
		require.Equal(t, c.verdict.String(), got.Verdict.String(), "%s: %v", c.name, got.Offences)
		require.Equal(t, c.fate, got.Fate, c.name)
	}
}

// Whoever is never answered is wronged by that alone, whatever else is wrong.
func TestSendersAreAnsweredInTheEnd(t *testing.T) {
	got := struckAtCommit(truth{xid: "7", status: "aborted"}, "", "unknown", "events paid")
	require.Equal(t, "a sender that comes again is answered in the end", got.Offences[0].Law)
}

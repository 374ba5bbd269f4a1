package scenarios

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/report"
)

// What breaks another law is no proof of the sin: the hearing goes on, and the law that names it
// wins.
func TestHearingWaitsForTheLawThatNamesTheSin(t *testing.T) {
	sinner := subject{name: "ack_before_commit", suite: SnapshotSuite, law: "acked_is_stored",
		sinner: &Sinner{}}
	other := lab.Offence{Verdict: lab.VerdictInvalid, Law: oneChange, Text: "unknown"}
	own := lab.Offence{Verdict: lab.VerdictInvalid, Text: "lost",
		Law: "an acknowledged event is stored, with the content that was delivered"}
	broken := func(by string, all ...lab.Offence) outcome {
		return outcome{by: by, runs: 2, verdict: lab.VerdictInvalid, offences: all}
	}

	h := newHearing(sinner, report.ByExploration)
	require.False(t, h.hears(outcome{by: "held", runs: 5}))
	require.False(t, h.hears(broken("first", other)))
	require.Equal(t, report.Cell{Judge: report.ByExploration, Ruling: report.Caught, By: "first",
		Law: oneChange, Text: "unknown", Schedules: 7}, h.cell)
	require.True(t, h.hears(broken("second", other, own)))
	require.True(t, h.cell.Named)
	require.Equal(t, "second", h.cell.By)
	require.Equal(t, own.Law, h.cell.Law)

	require.True(t, newHearing(sinner, report.InLoops).hears(broken("first", other)),
		"the usual tests know no laws")
	require.True(t, newHearing(subject{suite: SnapshotSuite}, report.BySweep).
		hears(broken("first", other)), "a reference may break none")
}

// Who could not judge a reference has not found it clean.
func TestHearingOfWhatCouldNotBeJudged(t *testing.T) {
	doubt := outcome{by: "two_copies", runs: 1, verdict: lab.VerdictUnknown,
		offences: []lab.Offence{{Verdict: lab.VerdictUnknown, Text: "the server fell"}}}
	reference := newHearing(subject{suite: SnapshotSuite}, report.ByExploration)
	require.True(t, reference.hears(doubt))
	require.Equal(t, report.NoWord, reference.closed().Ruling)

	sinner := newHearing(subject{suite: SnapshotSuite, sinner: &Sinner{}}, report.ByExploration)
	require.False(t, sinner.hears(doubt))
	require.Equal(t, report.Missed, sinner.closed().Ruling)
	require.Equal(t, "two_copies: the server fell", sinner.closed().Reason)
}

// Each law of the table is one that something is judged by, and each that it stands for is one of a
// sinner's.
func TestSameLawsAreLaws(t *testing.T) {
	judged, registered := map[string]bool{modelled: true}, map[string]bool{}
	for _, law := range []string{"what was not committed never was",
		"what was committed is not done again", "what was cut ends as if it had not been"} {
		judged[law] = true // in package lab
	}
	for _, suite := range Suites {
		for _, v := range slices.Concat(suite.Laws, suite.Audited) {
			judged[v.Name] = true
		}
		for _, p := range slices.Concat(suite.Programs, suite.Swept) {
			judged[p.Law] = true
		}
	}
	for _, s := range Sinners {
		registered[s.Law] = true
	}
	for law, others := range sameLaw {
		require.True(t, judged[law], law)
		for _, other := range others {
			require.True(t, registered[other], "%s: nobody breaks %q", law, other)
		}
	}
}

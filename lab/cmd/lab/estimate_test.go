package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/report"
)

var clock = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestAboutSaysNoMoreThanIsKnown(t *testing.T) {
	for left, want := range map[time.Duration]string{
		0:                 "nearly done",
		4 * time.Second:   "nearly done",
		5 * time.Second:   "about 10 s left",
		44 * time.Second:  "about 40 s left",
		94 * time.Second:  "about 90 s left",
		95 * time.Second:  "about 2 min left",
		200 * time.Second: "about 3 min left",
		61 * time.Minute:  "about 61 min left",
	} {
		require.Equal(t, want, about(left), left)
	}
}

// Cases that take twice as long as expected make the rest twice as long; cases nobody expected and
// time that passes in the case in progress change nothing else.
func TestALaneGoesByWhatItHasSeen(t *testing.T) {
	l := newLane()
	l.expect("a", 20*time.Second)
	l.expect("b", 10*time.Second)
	l.expect("c", 30*time.Second)
	require.Equal(t, 60*time.Second, l.remaining(clock))

	l.start("a", clock)
	require.Equal(t, 45*time.Second, l.remaining(clock.Add(15*time.Second)))
	require.Equal(t, 40*time.Second, l.remaining(clock.Add(time.Hour)), "never less than the others")

	l.judged("a", 45*time.Second) // with the head start twice as long
	l.judged("nobody expected", time.Hour)
	require.InDelta(t, 2, l.pace(), 0)
	require.Equal(t, 80*time.Second, l.remaining(clock))
	l.over = true
	require.Zero(t, l.remaining(clock))
}

func TestWhatNoVerdictTellsOfIsSpreadOverTheCases(t *testing.T) {
	l := newLane()
	l.rest = 30 * time.Second
	require.Equal(t, 30*time.Second, l.remaining(clock))
	l.began = clock
	require.Equal(t, 10*time.Second, l.remaining(clock.Add(20*time.Second)))
	require.Zero(t, l.remaining(clock.Add(time.Minute)))

	l.expect("a", 15*time.Second)
	l.expect("b", 15*time.Second)
	require.Equal(t, time.Minute, l.remaining(clock))
	l.judged("a", 15*time.Second)
	require.Equal(t, 30*time.Second, l.remaining(clock))
}

func TestPackagesGoOnSideBySide(t *testing.T) {
	e := estimate{lanes: map[string]*lane{}, procs: 2}
	for name, takes := range map[string]time.Duration{"a": 50, "b": 40, "c": 30} {
		e.lanes[name] = newLane()
		e.lanes[name].expect("case", takes*time.Second)
		e.lanes[name].measured = true
	}
	left, all := e.left(clock)
	require.Equal(t, time.Minute, left, "three lanes on two processors")
	require.True(t, all)
	e.lanes["c"].over = true
	left, _ = e.left(clock)
	require.Equal(t, 50*time.Second, left, "the longest decides")
}

// An estimate says what it rests on, and never that little is left when it does not know.
func TestAnEstimateIsNoMoreThanWhatIsKnown(t *testing.T) {
	a, b := newLane(), newLane()
	e := estimate{lanes: map[string]*lane{"a": a, "b": b}, procs: 2}
	require.Equal(t, "how much is left is not known", e.say(clock))
	a.expect("case", 40*time.Second)
	a.expect("other", 20*time.Second)
	require.Equal(t, "about 60 s left at least", e.say(clock))

	a.measured, b.measured = true, true
	a.began, b.began = clock, clock
	require.Equal(t, "about 60 s left", e.say(clock))
	a.judged("case", 80*time.Second)
	require.Equal(t, "about 40 s left, slower than last time", e.say(clock))
	a.judged("other", 20*time.Second)
	require.Equal(t, "nearly done", e.say(clock.Add(time.Second)))
	require.Equal(t, "longer than last time", e.say(clock.Add(time.Hour)))
	a.over, b.measured = true, false
	require.Equal(t, "how much is left is not known", e.say(clock))
	b.over = true
	require.Equal(t, "nearly done", e.say(clock.Add(time.Hour)))
}

func expecting(t *testing.T, o options, earlier ...report.Entry) expectation {
	t.Helper()
	g := &gate{options: o, root: t.TempDir(), before: t.TempDir()}
	for _, e := range earlier {
		require.NoError(t, report.Append(g.before, e))
	}
	return g.expect()
}

func (x expectation) of(suite, name string) (found []time.Duration) {
	for _, c := range x.cases {
		if c.suite == suite && c.name == name {
			found = append(found, c.takes)
		}
	}
	return found
}

// What is to come is known from the scenarios' list, how long it takes from the run before: for as
// many loops and sequences as are wanted now.
func TestWhatIsExpected(t *testing.T) {
	earlier := []report.Entry{
		{Suite: report.Scenario, Name: "retry_during_commit", Elapsed: time.Second},
		{Suite: report.Loop, Name: "retry_during_commit", Elapsed: 6 * time.Second, Runs: 30},
		{Suite: report.Loop, Name: "there_is_no_such_scenario", Elapsed: time.Hour, Runs: 30},
		{Suite: report.Law, Name: "TestA", Elapsed: 10 * time.Second, Runs: 7000},
		{Suite: report.Law, Name: "TestB", Elapsed: 10 * time.Second, Runs: 2999},
		{Suite: report.Law, Name: "TestFixed", Elapsed: 10 * time.Second, Runs: 1},
		{Suite: report.Flawed, Name: "sin", Elapsed: time.Second, Runs: 1},
	}
	x := expecting(t, options{loops: 5, sequences: 1000}, earlier...)
	require.Equal(t, []time.Duration{time.Second}, x.of(report.Scenario, "retry_during_commit"))
	require.Equal(t, []time.Duration{time.Second}, x.of(report.Loop, "retry_during_commit"))
	require.Equal(t, []time.Duration{time.Second}, x.of(report.Law, "TestA"))
	require.Equal(t, []time.Duration{10 * time.Second}, x.of(report.Law, "TestFixed"))
	require.Len(t, x.packages, 4)
	require.False(t, x.packages["inbox"].known)
	require.Equal(t, []time.Duration{unknownTakes}, x.of(report.Scenario, "exact_retry"))
	require.Empty(t, x.of(report.Loop, "exact_retry"), "it is not concurrent")
	require.Empty(t, x.of(report.Loop, "there_is_no_such_scenario"))
	require.Equal(t, 1, x.count(report.Flawed))
	programs := x.count(report.Exploration)
	require.NotZero(t, programs)
	short := expecting(t, options{loops: 1, sequences: 1, short: true})
	require.Less(t, short.count(report.Exploration), programs, "three sessions at once are left out")

	x = expecting(t, options{loops: 1, scenario: "^retry_during"}, earlier...)
	require.Len(t, x.cases, 2)
	x = expecting(t, options{loops: 1, sequences: 1, law: "A$"}, earlier...)
	require.Equal(t, []expected{{report.Law, "TestA", 200 * time.Second / 7000}}, x.cases,
		"no law draws fewer than twenty")
	x = expecting(t, options{replay: "retry_during_commit@1 a b"}, earlier...)
	require.Equal(t, []time.Duration{time.Second}, x.of(report.Replay, "retry_during_commit"))
	require.Len(t, x.cases, 1)
}

// What no verdict told of in the run before takes as long again.
func TestWhatPackagesTakeBesideTheirVerdicts(t *testing.T) {
	g := &gate{options: options{loops: 3, sequences: 300}, root: t.TempDir(), before: t.TempDir()}
	require.NoError(t, report.Append(g.before, report.Entry{Suite: report.Law, Name: "TestA",
		Elapsed: 20 * time.Second, Runs: 10000}))
	events := `{"Action":"pass","Package":"webhooklab/properties","Elapsed":50}
{"Action":"pass","Package":"webhooklab/lab/inbox","Elapsed":7}`
	require.NoError(t, os.WriteFile(filepath.Join(g.before, testEvents), []byte(events), 0o644))
	x := g.expect()
	require.Equal(t, map[string]packageTime{
		"properties": {30 * time.Second, true}, "inbox": {7 * time.Second, true},
		"scenarios": {}, "webhook": {},
	}, x.packages)
	lane := x.estimate().lanes["properties"]
	require.Equal(t, 600*time.Millisecond+30*time.Second, lane.remaining(clock))
	g.law = "TestA"
	require.Equal(t, map[string]packageTime{"properties": {0, true}}, g.expect().packages)
}

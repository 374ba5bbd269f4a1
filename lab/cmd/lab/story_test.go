package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/report"
)

var tale = []report.Entry{
	{Suite: report.Flawed, Name: "check_then_insert", Elapsed: 63 * time.Millisecond, Runs: 1},
	{Suite: report.Loop, Name: "retry_during_commit", Elapsed: 2100 * time.Millisecond, Runs: 30,
		Overlaps: 60},
	{Suite: report.Scenario, Name: "server_killed", Verdict: lab.VerdictNotRun,
		Reason: "not run: this server is not the lab's to kill\nor to start"},
	{Suite: report.Scenario, Name: "deadlock", Verdict: lab.VerdictInvalid, Law: "nothing is lost",
		Elapsed: 12 * time.Second, Replay: "deadlock@7 first/COMMIT",
		Offences: []lab.Offence{{Verdict: lab.VerdictInvalid, At: "deadlock.go:4",
			Text: "first was answered \"\x1b[2J\"\n  the scene is kept in logs/x/scenes/deadlock"}}},
	{Suite: report.Law, Name: "TestShuffled", Verdict: lab.VerdictUnknown, Reason: "no server"},
	report.Explored{Program: "two_copies", Explored: 12, Left: 8, ElapsedMS: 1500}.Entry(),
}

const toldTale = `caught      flawed    check_then_insert                       0.06 s
held        loop      retry_during_commit                     2.10 s, 30 runs, 60 overlaps
not run     scenario  server_killed                         this server is not the lab's to kill
BROKEN      scenario  deadlock                               12.00 s
    law: nothing is lost
    offence: first was answered "�[2J"
        the scene is kept in logs/x/scenes/deadlock
      at deadlock.go:4
    schedule: deadlock@7 first/COMMIT
    again: ./run_lab.sh --replay 'deadlock@7 first/COMMIT'
NOT JUDGED  law       TestShuffled                            0.00 s
    no server
    again: ./run_lab.sh --seed 7 --law '^TestShuffled$'
held        explored  two_copies                              1.50 s, 12 orders played, 8 branches left
`

// The last steps of what failed stand before the reasons.
func TestAStoryShowsTheFailingPhase(t *testing.T) {
	dir := t.TempDir()
	failed := lab.Report{
		Scenario: "deadlock", Verdict: lab.VerdictInvalid,
		Transcript: "scenario deadlock\nlaw: x\n\nfirst: COMMIT  -- COMMIT\n(stopped: lost)\n\nevents: 0\n",
		Offences: []lab.Offence{{Verdict: lab.VerdictInvalid,
			Text: report.KeptScene("lost", dir+"/scenes/deadlock")}},
	}
	require.NoError(t, report.Save(dir, failed, ""))
	var out bytes.Buffer
	story{out: &out, dir: dir}.tell(report.Entry{Suite: report.Scenario, Name: "deadlock",
		Verdict: lab.VerdictInvalid, Offences: failed.Offences})
	require.Contains(t, out.String(), "\n    | first: COMMIT  -- COMMIT\n    | (stopped: lost)\n"+
		"    offence: lost\n")
}

// What held is one line, what did not is told in full, and nothing of it steers the terminal.
func TestAStoryTellsOneLineOfWhatHeldAndAllOfWhatDidNot(t *testing.T) {
	var out bytes.Buffer
	s := story{out: &out, seed: 7}
	for _, e := range tale {
		s.tell(e)
	}
	require.Equal(t, toldTale, out.String())
	require.NotContains(t, out.String(), "\x1b")
}

func TestAColouredStoryHasTheSameWords(t *testing.T) {
	var plain, coloured bytes.Buffer
	for _, e := range tale {
		story{out: &plain, seed: 7}.tell(e)
		story{out: &coloured, seed: 7, colours: true}.tell(e)
	}
	require.Contains(t, coloured.String(), red+"BROKEN    "+plainAgain)
	require.Equal(t, plain.String(), withoutEscapes(coloured.String()))
}

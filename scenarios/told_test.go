package scenarios_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/report"
	"webhooklab/scenarios"
)

// Every cell of a sweep is told, also one that can't exist or could not be judged.
func TestEveryCellIsTold(t *testing.T) {
	unknown := lab.Offence{Verdict: lab.VerdictUnknown, Text: "it never fired\nat all"}
	told := scenarios.ToldSwept("shop", lab.Swept{Cells: []lab.Cell{
		{Place: 2, Command: "COMMIT", Fault: lab.Fault{Kind: lab.Terminated}, Fate: lab.Aborted,
			Learned: "unknown", Again: "applied", Tries: 3, Left: "as once",
			Schedule: lab.Schedule{Program: "p", Seed: 7}},
		{Place: 3, None: "it has no process"},
		{Place: 4, Verdict: lab.VerdictUnknown, Offences: []lab.Offence{unknown}},
	}})
	require.Equal(t, []report.CrashPoint{
		{Place: 2, Command: "COMMIT", Fault: "backend terminated", Transaction: "aborted",
			Told: "unknown", Again: "applied (3×)", Left: "as once", Line: "p@7"},
		{Place: 3, Fault: "no fault", None: "it has no process"},
		{Place: 4, Fault: "no fault", Verdict: lab.VerdictUnknown, Why: "it never fired", Line: "@0"},
	}, told.CrashPoints)
	require.Equal(t, 1, told.Cells)
}

// Every order of an exploration is told, with the ends that they came to.
func TestEveryOrderIsTold(t *testing.T) {
	e := lab.Explored{Cut: 1, Pruned: 2, Listed: []lab.Order{{Line: "p@7 a"}, {Line: "p@7 b", End: 1}},
		Ends: []lab.End{{Answers: "applied"}, {Answers: "duplicate"}}}
	told := scenarios.Told("shop", e)
	require.Equal(t, e.Listed, told.Listed)
	require.Equal(t, e.Ends, told.Ends)
	require.Equal(t, []int{3, 1}, []int{told.Pruned, told.GivenUp})
}

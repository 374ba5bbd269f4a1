package scenarios

import (
	"webhooklab/lab"
	"webhooklab/lab/report"
)

// Told is an exploration as a run's evidence keeps it.
func Told(suite string, e lab.Explored) report.Explored {
	told := report.Explored{
		Program: e.Program, Suite: suite, Law: e.Law, Verdict: e.Verdict, Explored: e.Explored,
		Pruned: e.Pruned + e.Cut, Left: e.Left, ElapsedMS: float64(e.Elapsed.Microseconds()) / 1e3,
		Gates: e.Gates, GivenUp: e.Cut, Listed: e.Listed, Ends: e.Ends,
	}
	if e.Orders != nil && e.Orders.IsInt64() {
		told.Orders = int(e.Orders.Int64())
	}
	if e.Left > 0 {
		told.Reason = "the budget ended; " + e.Bound
	}
	for _, f := range e.Failures {
		told.Failures = append(told.Failures, failureOf(f))
	}
	return told
}

// ToldGated is an exploration with gates, and beside it the one without.
func ToldGated(suite string, gated, control lab.Explored) report.Explored {
	told, beside := Told(suite, gated), Told(suite, control)
	told.Control = &beside
	return told
}

func failureOf(f lab.Failure) report.ExploredFailure {
	told := report.ExploredFailure{
		Line: f.Line(), Transcript: f.Report.Transcript, Trace: f.Report.Trace,
	}
	if len(f.Report.Offences) > 0 {
		told.Law, told.Text = f.Report.Offences[0].Law, f.Report.Offences[0].Text
	}
	return told
}

// ToldSwept is what came of a sweep, as a report shows it.
func ToldSwept(suite string, s lab.Swept) report.Explored {
	told := report.Explored{
		Program: s.Program, Suite: suite, Law: s.Law, Verdict: s.Verdict, Cells: s.Struck(),
		ElapsedMS: float64(s.Elapsed.Microseconds()) / 1e3,
	}
	for _, c := range s.Cells {
		told.CrashPoints = append(told.CrashPoints, crashPointOf(c))
	}
	for _, o := range s.Offences {
		told.Failures = append(told.Failures, report.ExploredFailure{Law: o.Law, Text: o.Text})
	}
	for _, c := range s.Failures() {
		told.Failures = append(told.Failures, report.ExploredFailure{
			Line: c.Schedule.String(), Law: c.Offences[0].Law, Text: c.Offences[0].Text,
			Transcript: c.Transcript,
		})
	}
	return told
}

func crashPointOf(c lab.Cell) report.CrashPoint {
	told := report.CrashPoint{
		Place: c.Place, Command: c.Command, Other: c.Other, Fault: c.Fault.Words(), None: c.None,
		Transaction: string(c.Fate), Told: c.Learned, Again: c.ToldAgain(), Answers: c.Answers,
		Left: c.Left, Verdict: c.Verdict, Why: c.Why(),
	}
	if c.None == "" {
		told.Line = c.Schedule.String()
	}
	return told
}

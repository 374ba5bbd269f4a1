package report

import (
	"fmt"

	"webhooklab/lab"
)

// The exit codes of the gate.
const (
	ExitHeld     = 0 // all that was run held
	ExitBroken   = 1 // a law was broken
	ExitUnjudged = 2 // the lab could not judge
	ExitNoFit    = 3 // a replay no longer fits
)

// ExitCode is what these verdicts come to, with the reason in words.
//
// A broken law outranks everything. What could not be judged outranks a replay that no longer
// fits, except where that is all that could not be judged. testsFailed tells that the tests ended
// in failure: with no verdict that explains it, nothing is known. What was not run changes
// nothing, but if nothing at all was run, nothing was judged.
func ExitCode(entries []Entry, testsFailed bool) (int, string) {
	n := count(entries)
	switch {
	case n.broken > 0:
		return ExitBroken, "a law was broken: " + phrase(n.broken, "verdict is", "verdicts are") +
			" invalid"
	case n.unknown > 0:
		return ExitUnjudged, phrase(n.unknown, "verdict is", "verdicts are") + " unknown"
	case n.noFit > 0:
		return ExitNoFit, "the schedule no longer fits the receiver's commands"
	case testsFailed:
		return ExitUnjudged, "the tests failed, and no verdict says why"
	case len(entries) == 0:
		return ExitUnjudged, "no test gave a verdict"
	case n.valid == 0:
		return ExitUnjudged, "nothing was run: " + entries[0].because()
	}
	return ExitHeld, "all that was run held"
}

// counts sorts entries by what came of them.
type counts struct{ valid, notRun, noFit, unknown, broken int }

func count(entries []Entry) (n counts) {
	for _, e := range entries {
		switch {
		case e.Verdict == lab.VerdictInvalid:
			n.broken++
		case e.NoFit:
			n.noFit++
		case e.Verdict == lab.VerdictUnknown:
			n.unknown++
		case e.Verdict == lab.VerdictNotRun:
			n.notRun++
		default:
			n.valid++
		}
	}
	return n
}

// because is the reason of an entry that was not run or not judged.
func (e Entry) because() string {
	switch {
	case e.Reason != "":
		return e.Reason
	case len(e.Offences) > 0:
		return e.Offences[0].Text
	case e.Detail != "":
		return e.Detail
	}
	return "no reason was given"
}

// phrase counts in words: phrase(2, "run", "runs") is "2 runs".
func phrase(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%s %s", grouped(n), many)
}

// grouped writes a number with a comma between thousands.
func grouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

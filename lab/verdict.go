package lab

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// A Verdict is valid, invalid or unknown. Invalid outranks unknown, unknown outranks valid: a lab
// that could not judge never reports success.
type Verdict int

const (
	VerdictValid Verdict = iota
	VerdictNotRun
	VerdictUnknown
	VerdictInvalid
)

func (v Verdict) String() string {
	return [...]string{"valid", "not run", "unknown", "invalid"}[v]
}

// MarshalText and UnmarshalText keep verdicts readable in recorded evidence.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

func (v *Verdict) UnmarshalText(text []byte) error {
	for w := VerdictValid; w <= VerdictInvalid; w++ {
		if w.String() == string(text) {
			*v = w
			return nil
		}
	}
	return fmt.Errorf("lab: %q is no verdict: want valid, not run, unknown or invalid", text)
}

// An Offence says which law was broken, or why it could not be judged, and where it was noticed.
type Offence struct {
	Verdict Verdict `json:"verdict"`
	Law     string  `json:"law"`
	Text    string  `json:"text"`
	At      string  `json:"at,omitempty"`
}

func (o Offence) String() string {
	s := o.Verdict.String() + ": " + o.Text
	if o.Law != "" {
		s += "\n  law: " + o.Law
	}
	if o.At != "" {
		s += "\n  at " + o.At
	}
	return s
}

// stop ends a Play: it is panicked by a verb and recovered by Run.
type stop struct{ offence Offence }

// give ends the play with this verdict, pointing at the scenario's own line.
func (l *Lab) give(v Verdict, format string, args ...any) {
	panic(stop{Offence{Verdict: v, Law: l.law, Text: fmt.Sprintf(format, args...), At: callSite()}})
}

// blame adds an offence without ending the play.
func (l *Lab) blame(v Verdict, format string, args ...any) {
	l.offences = append(l.offences,
		Offence{Verdict: v, Law: l.law, Text: fmt.Sprintf(format, args...)})
}

// callSite is the first frame outside this package's own files (its tests count as outside).
func callSite() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		inside := strings.HasPrefix(f.Function, "webhooklab/lab.") &&
			!strings.HasSuffix(f.File, "_test.go")
		if !inside && !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}

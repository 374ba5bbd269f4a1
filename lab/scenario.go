package lab

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"webhooklab/lab/postgres"
	"webhooklab/toxiproxy"
)

// A Scenario is a situation that any receiver can be put through. Play tells it as a story, in
// forty lines at most; Law is the sentence that it proves, and the failure message.
type Scenario struct {
	Name string
	Law  string
	Play func(l *Lab)

	Concurrent bool               // its sessions must be seen to overlap, or the run is unknown
	Free       bool               // sessions run freely from a barrier: no two transcripts are alike
	Reference  bool               // it touches the tables of schema.sql by name
	Needs      []postgres.Ability // of the server; without them it is not run
}

// A Report is what came of one run of a scenario.
type Report struct {
	Scenario   string
	Law        string
	Verdict    Verdict
	Offences   []Offence
	Transcript string
	Schedule   string // one line: the steps and faults as they went
	Waits      []ProvedWait
	Overlaps   int // pairs of operations that the wire saw in progress at once
	Gates      int // how often a statement stood at a gate inside PostgreSQL
	History    *History
	Trace      *Trace
	Elapsed    time.Duration
}

// Overlapped counts the proofs that sessions met: waits seen by the server, overlaps on the wire.
func (r Report) Overlapped() int { return len(r.Waits) + r.Overlaps }

// String is the report as a person reads it after a failure: law, offences, transcript.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "scenario %s: %s\nlaw: %s\n", r.Scenario, r.Verdict, r.Law)
	for _, o := range r.Offences {
		fmt.Fprintf(&b, "%s\n", o)
	}
	fmt.Fprintf(&b, "\n%s\nschedule: %s\n", r.Transcript, r.Schedule)
	return b.String()
}

// Run puts the lab's receiver through one scenario and judges what came of it.
//
// The judgement is the worst of: the verb that failed, the laws that the database breaks, a wire
// that refused something, sessions that should have overlapped and did not.
func (l *Lab) Run(ctx context.Context, sc Scenario) Report {
	began := time.Now()
	l.begin(ctx, sc.Law)
	l.line("scenario %s\nlaw: %s\n", sc.Name, sc.Law)
	if reason := l.cannot(sc); reason != "" {
		l.blame(VerdictNotRun, "%s", reason)
	} else if len(l.offences) == 0 {
		l.play(sc.Play)
		l.runOff()
		l.traceRows()
		l.line("")
		l.tellRows()
		l.judge()
		if len(l.offences) == 0 && sc.Concurrent && len(l.waits)+l.overlaps == 0 {
			l.blame(VerdictUnknown, "the sessions never overlapped: nothing was put to the test")
		}
	}
	r := Report{
		Scenario: sc.Name, Law: sc.Law, Offences: l.offences,
		Transcript: l.transcript.String(), Waits: l.waits, Overlaps: l.overlaps,
		Schedule: fmt.Sprintf("%s@%d %s", sc.Name, l.cfg.Seed, strings.Join(l.schedule, " ")),
		History:  l.History, Trace: l.trace.end(l.sessions), Elapsed: time.Since(began),
	}
	for _, o := range l.offences {
		r.Verdict = max(r.Verdict, o.Verdict)
	}
	l.keep()
	return r
}

func (l *Lab) cannot(sc Scenario) string {
	if sc.Reference && l.cfg.Own {
		return "it touches the reference tables by name, and this receiver has its own"
	}
	for _, need := range sc.Needs {
		if l.cfg.Server == nil {
			return "the lab was given no server to ask this of"
		}
		if err := l.cfg.Server.Can(need); err != nil {
			return err.Error()
		}
	}
	return ""
}

// play runs the story. A verb that fails ends it; a panic of any other kind is unknown, as a
// judge that stumbles has judged nothing.
func (l *Lab) play(story func(*Lab)) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case stop:
			l.offences = append(l.offences, p.offence)
			l.line("(stopped: %s)", p.offence.Text)
		default:
			l.blame(VerdictUnknown, "the play panicked: %v\n%s", p, debug.Stack())
		}
	}()
	story(l)
	for _, s := range l.sessions {
		if s.active {
			l.give(VerdictUnknown, "the scenario ended while %s was %s", s.Name, s.status())
		}
	}
}

// runOff ends whatever a stopped play left in progress: gates open first, then by force. A server
// that it left dead is started again, for the plays to come.
func (l *Lab) runOff() {
	if l.down {
		if err := l.restart(); err != nil {
			l.blame(VerdictUnknown, "start the server again: %v", err)
		}
	}
	for _, s := range l.sessions {
		if s.active {
			s.spoiled = true
			s.wire.Gate(false)
		}
	}
	if l.quiet(l.cfg.Bound / 3) {
		return
	}
	for _, s := range l.sessions {
		if s.active {
			s.cancel()
			s.wire.Sever(toxiproxy.RST)
		}
	}
	if !l.quiet(l.cfg.Bound) {
		l.blame(VerdictUnknown, "a session did not end although its connections were cut")
	}
}

func (l *Lab) quiet(bound time.Duration) bool {
	for end := time.Now().Add(bound); ; {
		l.drain()
		busy := false
		for _, s := range l.sessions {
			busy = busy || s.active
		}
		if !busy {
			return true
		}
		if time.Now().After(end) {
			return false
		}
		l.mail.wait(time.Until(end))
	}
}

// keep puts healthy sessions, with their connections, aside for the next run.
func (l *Lab) keep() {
	for _, s := range l.sessions {
		if s.spoiled || s.active || len(s.wire.Refused()) > 0 {
			s.close()
			continue
		}
		s.ended, s.shown, s.changes = false, "", nil
		s.bury()
		l.kept[s.key] = s
	}
	l.sessions = nil
}

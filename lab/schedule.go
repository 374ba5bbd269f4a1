package lab

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"webhooklab/toxiproxy"
)

// A Step is one entry of a schedule: who goes on, from which command, and what befalls it.
//
// What is "" for a step without a command: a gate inside a statement that opens, a backend that is
// woken.
type Step struct {
	Session string
	Lane    int // 0 but for the second, third … command that a session holds at once
	Kind    StepKind
	What    string // label of the command; "" in a schedule written by hand: whichever it is
	Fault   Fault
}

// StepKind says what goes on.
type StepKind int

const (
	StepRelease StepKind = iota // a held command goes to the server
	StepWake                    // of several waiters whose lock is free, this backend goes on first
	StepDies                    // of two that wait for each other, PostgreSQL ends this one
	StepOpen                    // a statement that stands at a gate inside PostgreSQL goes on
)

// A Fault is what befalls a step.
type Fault struct {
	Kind  FaultKind
	Close toxiproxy.Close // of LostRequest and LostAck
}

// FaultKind is a kind of fault at one command.
type FaultKind int

const (
	NoFault           FaultKind = iota
	LostRequest                 // the command never reaches the server
	LostAck                     // the server executes it, its answer is lost
	Terminated                  // the backend is terminated before the command arrives
	Cancelled                   // the statement is cancelled while it stands at a gate or waits
	ReceiverKilled              // the receiver's process dies before the command leaves
	ServerKilled                // PostgreSQL is killed before the command arrives, and started again
	ServerKilledAfter           // the same once the command was executed, its answer lost
)

var faultNames = map[FaultKind]string{
	LostRequest: "request", LostAck: "ack", Terminated: "terminated", Cancelled: "cancelled",
	ReceiverKilled: "killed", ServerKilled: "server", ServerKilledAfter: "server_after",
}

// String is the fault as a schedule writes it: "ack=FIN", "terminated".
func (f Fault) String() string {
	if f.Kind == LostRequest || f.Kind == LostAck {
		return faultNames[f.Kind] + "=" + f.Close.String()
	}
	return faultNames[f.Kind]
}

// Words is the fault as a person reads it.
func (f Fault) Words() string {
	return map[FaultKind]string{
		NoFault:           "no fault",
		LostRequest:       "request lost",
		LostAck:           "acknowledgement lost",
		Terminated:        "backend terminated",
		Cancelled:         "statement cancelled",
		ReceiverKilled:    "receiver killed",
		ServerKilled:      "server killed before it",
		ServerKilledAfter: "server killed behind it",
	}[f.Kind] + map[bool]string{true: " (" + f.Close.String() + ")"}[f.Kind == LostRequest ||
		f.Kind == LostAck]
}

// String is the step as a schedule writes it: "first:INSERT+webhook_inbox", "first:COMMIT!ack=RST",
// "retry~wake", "retry~open".
func (s Step) String() string {
	name := s.Session
	if s.Lane > 0 {
		name += "#" + strconv.Itoa(s.Lane+1)
	}
	switch s.Kind {
	case StepWake:
		return name + "~wake"
	case StepDies:
		return name + "~dies"
	case StepOpen:
		name += "~open"
	case StepRelease:
		if s.What != "" {
			name += ":" + strings.ReplaceAll(s.What, " ", "+")
		}
	}
	if s.Fault.Kind != NoFault {
		name += "!" + s.Fault.String()
	}
	return name
}

// A Schedule is one order of one program's steps: a line that replays the run.
type Schedule struct {
	Program string   // its name
	Acts    []string // what is left of it; nil: everything
	Seed    uint64
	Gated   bool // gates inside statements were placed
	Steps   []Step
}

// String is the line: "two_copies@7 first:INSERT+webhook_inbox …".
func (s Schedule) String() string {
	var b strings.Builder
	b.WriteString(s.Program)
	if s.Acts != nil {
		b.WriteString("[" + strings.Join(s.Acts, ",") + "]")
	}
	fmt.Fprintf(&b, "@%d", s.Seed)
	if s.Gated {
		b.WriteString(" ~gated")
	}
	for _, step := range s.Steps {
		b.WriteString(" " + step.String())
	}
	return b.String()
}

var (
	scheduleHead = regexp.MustCompile(`^([a-z0-9_]+)(?:\[([a-z0-9_.,]+)\])?@([0-9]+)$`)
	scheduleStep = regexp.MustCompile(
		`^([a-z0-9_]+)(?:#([0-9]+))?(?:~(wake|open|dies)|:([^!\s]+))?(?:!([a-z_]+)(?:=(FIN|RST|hang))?)?$`)
)

// ParseSchedule reads a line as String writes it. Its errors name the word that is wrong.
func ParseSchedule(line string) (Schedule, error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return Schedule{}, fmt.Errorf("lab: the schedule is empty: want name@seed step step …")
	}
	head := scheduleHead.FindStringSubmatch(words[0])
	if head == nil {
		return Schedule{}, fmt.Errorf("lab: a schedule begins with name@seed, not with %q", words[0])
	}
	seed, err := strconv.ParseUint(head[3], 10, 64)
	if err != nil {
		return Schedule{}, fmt.Errorf("lab: the seed of %q: %w", words[0], err)
	}
	s := Schedule{Program: head[1], Seed: seed}
	if head[2] != "" {
		s.Acts = strings.Split(head[2], ",")
	}
	for _, word := range words[1:] {
		if word == "~gated" {
			s.Gated = true
			continue
		}
		step, err := parseStep(word)
		if err != nil {
			return Schedule{}, err
		}
		s.Steps = append(s.Steps, step)
	}
	return s, nil
}

func parseStep(word string) (Step, error) {
	m := scheduleStep.FindStringSubmatch(word)
	if m == nil {
		return Step{}, fmt.Errorf(
			"lab: %q is no step: want session:COMMAND, session:COMMAND!fault, session~open, "+
				"session~wake or session~dies", word)
	}
	s := Step{Session: m[1], What: strings.ReplaceAll(m[4], "+", " ")}
	if m[2] != "" {
		n, err := strconv.Atoi(m[2])
		if err != nil || n < 2 {
			return Step{}, fmt.Errorf("lab: %q: connections are counted from 2", word)
		}
		s.Lane = n - 1
	}
	s.Kind = map[string]StepKind{"wake": StepWake, "open": StepOpen, "dies": StepDies}[m[3]]
	if m[5] == "" {
		return s, nil
	}
	for kind, name := range faultNames {
		if name == m[5] {
			s.Fault.Kind = kind
		}
	}
	closes := map[string]toxiproxy.Close{
		"FIN": toxiproxy.FIN, "RST": toxiproxy.RST, "hang": toxiproxy.Hang}
	cuts := s.Fault.Kind == LostRequest || s.Fault.Kind == LostAck
	if s.Fault.Kind == NoFault || cuts != (m[6] != "") {
		return Step{}, fmt.Errorf("lab: %q names no fault: want request=, ack= with FIN, RST or hang, "+
			"terminated, cancelled, killed, server or server_after", word)
	}
	s.Fault.Close = closes[m[6]]
	return s, nil
}

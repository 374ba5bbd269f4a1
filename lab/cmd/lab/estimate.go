package main

import (
	"fmt"
	"time"
)

// A lane is what one package has to do, one case after the other. Packages run side by side.
type lane struct {
	left         map[string]time.Duration // the cases to come and what they are expected to take
	all          time.Duration            // of all cases together
	rest         time.Duration            // of what no verdict tells of
	gone, should time.Duration            // what the judged took, and what was expected of them
	began        time.Time
	current      string // the case in progress
	since        time.Time
	over         bool
	measured     bool // an earlier run tells how long all of it takes
}

func newLane() *lane { return &lane{left: map[string]time.Duration{}} }

func (l *lane) expect(key string, takes time.Duration) {
	l.left[key] = takes
	l.all += takes
}

// headStart is how much of what was expected counts as seen before anything was: a few quick or
// slow cases say little about the rest.
const headStart = 5 * time.Second

// pace is how many times longer than expected this lane takes.
func (l *lane) pace() float64 {
	return float64(l.gone+headStart) / float64(l.should+headStart)
}

func (l *lane) start(key string, now time.Time) { l.current, l.since = key, now }

// judged takes a case from what is left.
func (l *lane) judged(key string, took time.Duration) {
	if expected, known := l.left[key]; known {
		l.gone += took
		l.should += expected
		delete(l.left, key)
	}
}

// remaining is how long the lane still takes. The case in progress gets shorter as time goes by and
// then waits at nothing: its delay says nothing about those behind it.
func (l *lane) remaining(now time.Time) time.Duration {
	switch {
	case l.over:
		return 0
	case l.all == 0 && l.began.IsZero():
		return l.rest
	case l.all == 0:
		return max(0, l.rest-now.Sub(l.began))
	}
	behind := time.Duration(0)
	for key, d := range l.left {
		if key != l.current {
			behind += d
		}
	}
	scale := l.pace() * (1 + float64(l.rest)/float64(l.all))
	left := time.Duration(float64(behind) * scale)
	if d := l.left[l.current]; d > 0 {
		left += max(0, time.Duration(float64(d)*scale)-now.Sub(l.since))
	}
	return left
}

// overdue tells that all of it took less the last time.
func (l *lane) overdue(now time.Time) bool {
	whole := time.Duration(float64(l.all+l.rest) * l.pace())
	return !l.over && l.measured && !l.began.IsZero() && now.Sub(l.began) > whole+headStart
}

// An estimate is of the whole run.
type estimate struct {
	lanes map[string]*lane // by package, its last element
	procs int              // how many lanes go on at once
}

// left is how long the run still takes, as far as that is known. It is all of it if every lane that
// is not over was measured before.
func (e estimate) left(now time.Time) (left time.Duration, all bool) {
	sum := time.Duration(0)
	all = true
	for _, l := range e.lanes {
		all = all && (l.over || l.measured)
		d := l.remaining(now)
		left = max(left, d)
		sum += d
	}
	return max(left, sum/time.Duration(max(1, e.procs))), all
}

// any tells whether a lane is in such a state.
func (e estimate) any(is func(*lane) bool) bool {
	for _, l := range e.lanes {
		if is(l) {
			return true
		}
	}
	return false
}

// say tells how much is left, no more exactly than it is known, and whether that is more than the
// last run led to expect.
func (e estimate) say(now time.Time) string {
	left, all := e.left(now)
	slower := e.any(func(l *lane) bool { return !l.over && l.pace() > 1.25 })
	switch text := about(left); {
	case left < nearly && !all:
		return "how much is left is not known"
	case left < nearly && e.any(func(l *lane) bool { return l.overdue(now) }):
		return "longer than last time"
	case left < nearly:
		return text
	case !all:
		return text + " at least"
	case slower:
		return text + ", slower than last time"
	default:
		return text
	}
}

// nearly is too little to be counted in seconds.
const nearly = 5 * time.Second

func about(left time.Duration) string {
	switch {
	case left < nearly:
		return "nearly done"
	case left < 95*time.Second:
		return fmt.Sprintf("about %d s left", 10*((left+5*time.Second)/(10*time.Second)))
	}
	return fmt.Sprintf("about %d min left", (left+30*time.Second)/time.Minute)
}

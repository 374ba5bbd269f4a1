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

// An estimate is of the whole run.
type estimate struct {
	lanes map[string]*lane // by package, its last element
	procs int              // how many lanes go on at once
}

// left is how long the run still takes, whether that is longer than it used to, and whether
// anything is known about it.
func (e estimate) left(now time.Time) (left time.Duration, slower, known bool) {
	sum := time.Duration(0)
	for _, l := range e.lanes {
		known = known || l.all+l.rest > 0
		slower = slower || !l.over && l.pace() > 1.25
		d := l.remaining(now)
		left = max(left, d)
		sum += d
	}
	return max(left, sum/time.Duration(max(1, e.procs))), slower, known
}

// about says a time no more exactly than it is known.
func about(left time.Duration) string {
	switch {
	case left < 5*time.Second:
		return "nearly done"
	case left < 95*time.Second:
		return fmt.Sprintf("about %d s left", 10*((left+5*time.Second)/(10*time.Second)))
	}
	return fmt.Sprintf("about %d min left", (left+30*time.Second)/time.Minute)
}

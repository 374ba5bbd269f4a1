package lab

import (
	"slices"
	"time"

	"webhooklab/lab/postgres"
)

// A server of the lab's own leaves two choices to the schedule that are otherwise PostgreSQL's:
// which of several waiters goes on first, and who dies in a deadlock. A backend that is proved to
// wait sleeps, and holds nothing that the server itself needs; it is stopped (SIGSTOP) before the
// one that it waits for is released, and continued when it is its turn.

// freezeBound is how long the server may take to answer with backends stopped. One that was
// stopped during its deadlock check may hold what every question needs.
const freezeBound = 200 * time.Millisecond

// leave lets PostgreSQL choose.
func (st *steering) leave(waiters int) {
	if waiters > 1 {
		st.choice, st.chance = true, waiters
	}
}

// controls says whether this lab may stop backends.
func (l *Lab) controls() bool {
	return l.steered != nil && l.can(postgres.Signal) == nil
}

// freeze stops the waiters between which a release would let PostgreSQL choose.
func (l *Lab) freeze(releasing *lane) {
	if l.steered == nil {
		return
	}
	waiters := l.waitersOf(releasing)
	if !l.controls() {
		l.steered.leave(len(waiters))
		return
	}
	deadlock := len(waiters) == 1 && (waiters[0].wrote || l.shutting()) &&
		!releasing.ends()
	if len(waiters) < 2 && !deadlock {
		l.steered.pair = l.stoppedAlone() // since a step before
		return
	}
	for began := time.Now(); ; shortSleep(time.Millisecond) {
		for _, ln := range waiters {
			l.signal(ln, true)
		}
		asleep, answered := l.asleep(waiters)
		if asleep || answered && time.Since(began) > patience { // that one does not wait any more
			l.steered.pair = l.stoppedAlone()
			return
		}
		l.thawAll() // one was caught in its deadlock check: that is over in a moment
	}
}

// stoppedAlone says whether one backend is stopped, and nobody waits for it: a deadlock that it has a
// part in is then one of two. In longer ones the choice is left to PostgreSQL.
func (l *Lab) stoppedAlone() bool {
	var stopped []*lane
	for _, ln := range l.lanes(laneBlocked) {
		if ln.frozen {
			stopped = append(stopped, ln)
		}
	}
	return len(stopped) == 1 && len(l.waitersOf(stopped[0])) == 0
}

// waitersOf are the lanes that were last seen to wait for this one.
func (l *Lab) waitersOf(holder *lane) (waiters []*lane) {
	for _, ln := range l.lanes(laneBlocked) {
		if slices.Contains(ln.wait.Blockers, holder.pid) && !ln.frozen {
			waiters = append(waiters, ln)
		}
	}
	return waiters
}

func (ln *lane) ends() bool {
	label := ln.command.Label()
	return label == "COMMIT" || label == "ROLLBACK"
}

func (l *Lab) signal(ln *lane, stop bool) {
	act := l.cfg.Server.Thaw
	if stop {
		act = l.cfg.Server.Freeze
	}
	if err := act(ln.pid); err != nil {
		l.give(VerdictUnknown, "%v", err)
	}
	ln.frozen = stop
}

// asleep: these stopped backends are where they hold nothing that the server itself needs, and stand
// in no queue but the lock table's. Elsewhere, as in their deadlock check, others could wait behind
// them for ever.
func (l *Lab) asleep(lanes []*lane) (asleep, answered bool) {
	pids := make([]uint32, len(lanes))
	for i, ln := range lanes {
		pids[i] = ln.pid
	}
	told := make(chan error, 1)
	go func() {
		var err error
		asleep, err = l.observer.asleep(l.ctx, pids)
		told <- err
	}()
	t := time.NewTimer(freezeBound)
	defer t.Stop()
	select {
	case err := <-told:
		return asleep || err != nil, true
	case <-t.C:
		l.thawAll()
		<-told
		return false, false
	}
}

// letGo continues whoever is stopped: PostgreSQL chooses.
func (l *Lab) letGo() {
	l.thawAll()
	if l.steered != nil {
		l.steered.freed, l.steered.choice = true, true
	}
}

// thawAll lets every stopped backend go on.
func (l *Lab) thawAll() {
	for _, s := range l.sessions {
		for _, ln := range s.lanes {
			if ln.frozen {
				ln.frozen = false
				_ = l.cfg.Server.Thaw(ln.pid) // it may be gone, and then needs nothing
			}
		}
	}
}

func (l *Lab) anyFrozen() bool {
	for _, s := range l.sessions {
		if slices.ContainsFunc(s.lanes, func(ln *lane) bool { return ln.frozen }) {
			return true
		}
	}
	return false
}

// chooseVictim decides who dies of two that wait for each other, one of them stopped: the one that
// is let run finds the deadlock.
func (l *Lab) chooseVictim(seen map[uint32]Wait, running []*lane) {
	st := l.steered
	if st == nil || st.victim != "" {
		return
	}
	for _, closer := range running {
		for _, stopped := range running {
			if closer.frozen || !stopped.frozen ||
				!slices.Contains(seen[closer.pid].Blockers, stopped.pid) ||
				!slices.Contains(seen[stopped.pid].Blockers, closer.pid) {
				continue
			}
			st.choice = true
			doomed := []Step{{Session: l.name(closer.pid), Kind: StepDies},
				{Session: l.name(stopped.pid), Kind: StepDies}}
			victim := st.driver.wake(doomed)
			st.taken, st.victim = append(st.taken, victim), victim.Session
			if victim == doomed[1] {
				l.signal(closer, true)
				l.signal(stopped, false)
			}
			return
		}
	}
}

// patience is how long sessions may wait for each other with one of them stopped. They end by the
// deadlock check of one that runs; if it had that behind it already, the stopped ones must look.
const patience = 500 * time.Millisecond

// unfreeze ends such a standstill. What else takes long may just be slow, but not for ever: should a
// stopped backend hold up others by what no lock shows, PostgreSQL chooses after all, and the run
// belongs to no branch.
func (l *Lab) unfreeze(began time.Time, running []*lane) {
	st, took := l.steered, time.Since(began)
	if st == nil || took < patience {
		return
	}
	if took > l.cfg.Bound/3 && l.anyFrozen() {
		l.letGo()
		return
	}
	for _, ln := range running {
		if !ln.frozen && slices.ContainsFunc(ln.wait.Blockers, l.isFrozen) {
			l.thawAll()
			return
		}
	}
}

// isFrozen: the backend is stopped, and itself waits.
func (l *Lab) isFrozen(pid uint32) bool {
	ln, _ := l.laneOf(pid)
	return ln != nil && ln.frozen && len(ln.wait.Blockers) > 0
}

// thawNext continues one stopped backend whose lock is free, and says whether there was one. All
// running lanes were seen to stand still.
func (l *Lab) thawNext(running []*lane) bool {
	var free []*lane
	var steps []Step
	for _, s := range l.sessions {
		for _, ln := range s.lanes {
			if ln.frozen && ln.state == laneRunning && len(ln.wait.Blockers) == 0 {
				free = append(free, ln)
				steps = append(steps, Step{Session: s.Name, Kind: StepWake})
			}
		}
	}
	if len(free) == 0 {
		return false
	}
	pick := 0
	if len(free) > 1 && l.steered != nil {
		l.steered.choice = true
		step := l.steered.driver.wake(steps)
		pick = max(0, slices.Index(steps, step))
		l.steered.taken = append(l.steered.taken, steps[pick])
	}
	l.signal(free[pick], false)
	return true
}

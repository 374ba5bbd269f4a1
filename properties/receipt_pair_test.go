package properties_test

import (
	"context"
	"fmt"
	"time"

	"webhooklab/toxiproxy"
)

// pair makes two calls that overlap, in the same way each time: the first is held before one of
// its commands until the second has ended, or waits for a lock. If the first never comes to that
// command, the second is left out.
func (m *receiptMachine) pair(ctx context.Context, a act) ([]observed, error) {
	first, second := m.actor(a.who), m.actor(a.beside.who)
	held := first.holdAt(a.hold, nil)
	ends := m.start(ctx, a)
	select {
	case o := <-ends:
		first.wire.Gate(false)
		return []observed{o}, m.mend(ctx, first, &o)
	case c := <-held:
		ground.drawn.overlaps++
		stormed := m.storms
		if err := m.move(ctx, act{what: a.weather}); err != nil {
			return nil, err
		}
		later := m.start(ctx, *a.beside)
		over, err := m.untilWaiting(ctx, second, later)
		if err := first.letGo(c, a.cuts); err != nil {
			return nil, err
		}
		seen := []observed{<-ends}
		seen[0].change = m.storms != stormed
		if err == nil && over == nil {
			over = append(over, <-later)
		}
		if err == nil {
			err = m.mend(ctx, first, &seen[0])
		}
		return append(seen, over...), err
	}
}

// crowd is the same call by every actor who can, at the same time. The first one's wire is cut.
func (m *receiptMachine) crowd(ctx context.Context, a act) ([]observed, error) {
	ends := make([]<-chan observed, actors)
	m.actor(a.who).arm(a.cuts)
	for who := range actors {
		b := a
		b.who = who
		ends[who] = m.start(ctx, b)
	}
	seen := make([]observed, actors)
	for who := range actors {
		seen[who] = <-ends[who]
	}
	ground.drawn.overlaps++
	return seen, m.mend(ctx, m.actor(a.who), &seen[a.who])
}

// start makes the call in a goroutine that ends with its answer.
func (m *receiptMachine) start(ctx context.Context, a act) <-chan observed {
	ends := make(chan observed, 1)
	go func() { ends <- m.answered(ctx, a) }()
	return ends
}

const waitingSQL = `
SELECT EXISTS (
	SELECT FROM unnest($1::int[]) AS pid
	 WHERE cardinality(pg_blocking_pids(pid)) > 0)`

// untilWaiting gives the call's answer, or none if it waits for a lock.
func (m *receiptMachine) untilWaiting(
	ctx context.Context, w *wired, ends <-chan observed,
) ([]observed, error) {
	began := time.Now()
	for nap := time.Millisecond; ; nap = min(2*nap, 16*time.Millisecond) {
		select {
		case o := <-ends:
			return []observed{o}, nil
		case <-time.After(nap):
		}
		var waits bool
		err := m.plot.judge.QueryRow(ctx, waitingSQL, w.opened()).Scan(&waits)
		if err != nil || waits {
			return nil, err
		}
		if time.Since(began) > 2*bound {
			return nil, fmt.Errorf("%s neither ends nor waits for a lock", w.called)
		}
	}
}

// holdAt lets this many commands pass that fit, and holds the next one, which the channel then
// tells. Nil fits all.
func (w *wired) holdAt(n int, fits func(toxiproxy.Command) bool) <-chan toxiproxy.Command {
	held := make(chan toxiproxy.Command, 1)
	w.mu.Lock()
	w.holding = &holding{left: n, fits: fits, held: held}
	w.mu.Unlock()
	w.wire.Gate(true)
	return held
}

// holding counts commands that are held down to the one that stays so.
type holding struct {
	left int
	fits func(toxiproxy.Command) bool
	held chan<- toxiproxy.Command
}

// arrived lets a command go that is not the one to be held.
func (w *wired) arrived(c toxiproxy.Command) {
	w.mu.Lock()
	h := w.holding
	counts := h != nil && (h.fits == nil || h.fits(c))
	stays := counts && h.left == 0
	if counts {
		h.left--
	}
	w.mu.Unlock()
	if stays {
		h.held <- c
	} else {
		_ = w.wire.Release(c, nil) // it may be over already
	}
}

// letGo ends the hold, by a cut if there is one.
func (w *wired) letGo(c toxiproxy.Command, cuts []cutPlan) error {
	var fault *toxiproxy.Fault
	w.mu.Lock()
	w.holding = nil
	if len(cuts) > 0 {
		fault = &toxiproxy.Fault{At: cuts[0].at, Close: cuts[0].close}
		w.armed = append(w.armed, fault)
	}
	w.mu.Unlock()
	err := w.wire.Release(c, fault)
	w.wire.Gate(false)
	return err
}

// opened are the pids of its connections.
func (w *wired) opened() []uint32 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]uint32{}, w.pids...)
}

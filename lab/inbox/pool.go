package inbox

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"
)

// PoolOptions say how a pool waits and stops. The zero value is for production.
type PoolOptions struct {
	// Poll is how long a pool with nothing to do waits until it looks again. Default 1 s.
	Poll time.Duration
	// Grace is how long attempts may go on once the pool is told to stop. Then they are cancelled,
	// rolled back and released. Default 10 s.
	Grace time.Duration
	// Report is told each attempt's outcome and each error, if it isn't nil, by several goroutines
	// at once. The error is fit for logs.
	Report func(Outcome, error)
}

// Pool runs a bounded number of attempts at a time, keeps their leases alive, and recovers those of
// processes that are gone.
//
// It polls. LISTEN and NOTIFY would spare an idle pool two statements each second and wake it
// sooner, but each COMMIT that carries a NOTIFY holds a lock of the whole server, so that intake
// would commit one delivery at a time; and a connection that listens can't go through a pooler, and
// has to poll in any case after it was lost. An intake in the same process calls [Pool.Wake], which
// costs nothing.
//
// One attempt needs a connection for its change, and its heartbeats share others: give the pool's
// DB at least one more than the pool's size, or leases run out while heartbeats wait.
type Pool struct {
	claim   claimer
	recover recoverer
	size    int
	beat    time.Duration
	options PoolOptions
	wake    chan struct{}
	poller  chan struct{}
}

type (
	// claimer gives nil and no error if there is nothing to do.
	claimer   func(context.Context) (claimed, error)
	recoverer func(ctx context.Context, limit int) (int, error)
)

// claimed is one leased row and what is to be done with it. work does that under leased, which ends
// once the lease is lost, and writes down under ctx what came of it.
type claimed interface {
	work(ctx, leased context.Context) (Outcome, error)
	Heartbeat(ctx context.Context) error
}

// NewPool gives a pool of so many attempts at a time, at least one, each as [Worker.Work] does it.
func NewPool(w *Worker, size int, o PoolOptions) *Pool {
	claim := func(ctx context.Context) (claimed, error) {
		lease, err := w.Claim(ctx)
		if lease == nil {
			return nil, err
		}
		return lease, err
	}
	return newPool(claim, w.Recover, w.options.Lease, size, o)
}

// beatsPerLease leaves two heartbeats that may fail.
const beatsPerLease = 3

func newPool(
	claim claimer, recoverExpired recoverer, lease time.Duration, size int, o PoolOptions,
) *Pool {
	o.Poll = orDefault(o.Poll, time.Second)
	o.Grace = orDefault(o.Grace, 10*time.Second)
	if o.Report == nil {
		o.Report = func(Outcome, error) {}
	}
	return &Pool{
		claim: claim, recover: recoverExpired, size: max(size, 1), options: o,
		beat:   max(lease/beatsPerLease, time.Millisecond),
		wake:   make(chan struct{}, 1),
		poller: make(chan struct{}, 1),
	}
}

// Wake ends the wait of a pool that has nothing to do. It never blocks, and costs no query.
func (p *Pool) Wake() {
	select {
	case p.wake <- struct{}{}:
	default: // somebody is being woken already
	}
}

// Run works until ctx ends, then claims nothing more and lets the attempts under way finish, or
// releases them after the grace. When it returns nothing of it runs any more. The error joins those
// of the attempts that it could neither finish nor release: their leases expire.
func (p *Pool) Run(ctx context.Context) error {
	working, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var (
		attempts, beside sync.WaitGroup
		left             = make([]error, p.size)
	)
	beside.Go(func() { p.recoverUntil(ctx) })
	for i := range p.size {
		attempts.Go(func() { left[i] = p.attempts(ctx, working) })
	}
	finished := make(chan struct{})
	beside.Go(func() { p.endGrace(ctx, finished, cancel) })
	attempts.Wait()
	close(finished)
	beside.Wait()
	return errors.Join(left...)
}

// endGrace cancels the attempts that go on so long after ctx has ended.
func (p *Pool) endGrace(ctx context.Context, finished <-chan struct{}, cancel func()) {
	select {
	case <-finished:
		return
	case <-ctx.Done():
	}
	timer := time.NewTimer(p.options.Grace)
	defer timer.Stop()
	select {
	case <-finished:
	case <-timer.C:
		cancel()
	}
}

// attempts makes one after the other until ctx ends, each with its claim under a context that lasts
// longer. It gives the error of the last one if that could not be brought to an end.
func (p *Pool) attempts(ctx, working context.Context) error {
	for ctx.Err() == nil {
		next, err := p.claim(working)
		switch {
		case next != nil:
			p.Wake() // there may be more for the next one
			if err := p.attempt(working, next); err != nil && working.Err() != nil {
				return err
			}
		case ctx.Err() != nil:
		case err != nil:
			p.options.Report("", err)
			fallthrough
		default:
			p.idle(ctx)
		}
	}
	return nil
}

// attempt works on what was claimed, with heartbeats beside.
func (p *Pool) attempt(ctx context.Context, on claimed) error {
	leased, lost := context.WithCancel(ctx)
	defer lost()
	over := make(chan struct{})
	var beating sync.WaitGroup
	beating.Go(func() { p.heartbeats(ctx, on, over, lost) })
	outcome, err := on.work(ctx, leased)
	close(over)
	beating.Wait()
	p.options.Report(outcome, err)
	if outcome == LeaseLost {
		return nil
	}
	return err
}

// heartbeats are sent until the attempt is over. One that finds the lease lost may have found the
// attempt's own end, while the answer to that COMMIT is still on its way: so it ends the work under
// the lease, and not the attempt.
func (p *Pool) heartbeats(ctx context.Context, on claimed, over <-chan struct{}, lost func()) {
	ticker := time.NewTicker(p.beat)
	defer ticker.Stop()
	for {
		select {
		case <-over:
			return
		case <-ticker.C:
		}
		// Any other error passes, or the lease expires, which is for the server to find.
		if err := on.Heartbeat(ctx); errors.Is(err, ErrLeaseLost) {
			lost()
			return
		}
	}
}

// idle waits until the pool is woken. Only one of those who wait also looks from time to time.
func (p *Pool) idle(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-p.wake:
	case p.poller <- struct{}{}:
		timer := time.NewTimer(p.options.Poll/2 + rand.N(p.options.Poll))
		select {
		case <-ctx.Done():
		case <-p.wake:
		case <-timer.C:
		}
		timer.Stop()
		<-p.poller
	}
}

// recoverUntil recovers expired leases at once and then as often as heartbeats come.
func (p *Pool) recoverUntil(ctx context.Context) {
	ticker := time.NewTicker(p.beat)
	defer ticker.Stop()
	for ctx.Err() == nil {
		recovered, err := p.recover(ctx, recoveryBatch)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			p.options.Report("", err)
		case recovered > 0:
			p.Wake()
			if recovered == recoveryBatch {
				continue
			}
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

package properties_test

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"webhooklab/lab"
	"webhooklab/toxiproxy"
)

// cutPlan is a fault as it is drawn: which of a session's commands it meets, and how.
type cutPlan struct {
	at    toxiproxy.Place
	close toxiproxy.Close
	skip  int  // commands that pass first
	sever bool // all connections of the wire, while the command is on its way
}

func (c cutPlan) GoString() string {
	if c.sever {
		return fmt.Sprintf("severed by %s at command %d", c.close, c.skip+1)
	}
	return fmt.Sprintf("%s cut %s command %d", c.close, c.at, c.skip+1)
}

func drawCuts(t *rapid.T) []cutPlan {
	cuts := make([]cutPlan, rapid.IntRange(0, 2).Draw(t, "cuts"))
	for i := range cuts {
		cuts[i] = drawCut(t)
	}
	return cuts
}

func drawCut(t *rapid.T) cutPlan {
	c := cutPlan{
		sever: rapid.IntRange(0, 4).Draw(t, "sever") == 4,
		skip:  rapid.IntRange(0, 8).Draw(t, "skip"),
	}
	closes := []toxiproxy.Close{toxiproxy.FIN, toxiproxy.RST, toxiproxy.Hang}
	if c.sever {
		closes = closes[:2]
	}
	c.close = rapid.SampledFrom(closes).Draw(t, "close")
	c.at = rapid.SampledFrom([]toxiproxy.Place{
		toxiproxy.AfterCommand, toxiproxy.BeforeCommand,
	}).Draw(t, "at")
	return c
}

// wired is a sender whose receiver has a wire between itself and the database.
type wired struct {
	called   string
	wire     *toxiproxy.Proxy
	receiver lab.Receiver

	mu      sync.Mutex
	history *lab.History
	giveUp  context.CancelFunc // ends the delivery in progress
	hung    bool               // its connection was left hanging
	armed   []*toxiproxy.Fault
	severs  []*severing
	holding *holding
	pids    []uint32 // of the connections since it was last severed
	broken  int      // of those that were severed, how many its receiver may not know of yet
	said    string   // its last outcome
}

// severing counts a session's commands down to the moment when its connections are severed.
type severing struct {
	left  int
	close toxiproxy.Close
	fired bool
}

func (s subject) wiredSenders(t testing.TB, n int) []*wired {
	return wiredTo(t, ground.database.DSN(), s.new, "sender", n)
}

// wiredTo gives senders to this database. They are closed with the test, first the receivers and
// then their wires.
func wiredTo(t testing.TB, dsn string, newReceiver lab.NewReceiver, name string, n int) []*wired {
	t.Helper()
	u, err := url.Parse(dsn)
	require.NoError(t, err)
	upstream := u.Host
	all := make([]*wired, n)
	for i := range all {
		w := &wired{called: fmt.Sprintf("%s_%d", name, i+1)}
		w.mu.Lock() // the wire's own goroutines will ask for it
		w.wire, err = toxiproxy.Open(toxiproxy.Config{
			Name: w.called, Upstream: upstream, Notify: w.hear,
		})
		w.mu.Unlock()
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, w.wire.Close()) })
		u.Host = w.wire.Addr()
		w.receiver, err = newReceiver(t.Context(), u.String())
		require.NoError(t, err)
		t.Cleanup(func() {
			w.wire.Sever(toxiproxy.FIN)
			closeReceiver(w.receiver)
		})
		all[i] = w
	}
	return all
}

func (w *wired) name() string { return w.called }

// send hands one delivery over.
func (w *wired) send(ctx context.Context, h *lab.History, d lab.Delivery) error {
	return w.do(ctx, h, func(ctx context.Context) error {
		_, err := h.Record(w.called, w.receiver).Receive(ctx, d)
		return err
	})
}

// do calls the receiver. A sender whose connection hangs gives up when the fault has fired; the
// network gives up after it.
func (w *wired) do(ctx context.Context, h *lab.History, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	w.mu.Lock()
	w.giveUp, w.history = cancel, h
	w.mu.Unlock()
	err := call(ctx)
	w.mu.Lock()
	hung := w.hung
	w.hung = false
	w.mu.Unlock()
	if hung {
		w.wire.Sever(toxiproxy.FIN)
	}
	return err
}

// arm lays the cuts out.
func (w *wired) arm(cuts []cutPlan) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range cuts {
		if c.sever {
			w.severs = append(w.severs, &severing{left: c.skip, close: c.close})
			continue
		}
		f := &toxiproxy.Fault{At: c.at, Close: c.close, Skip: c.skip}
		w.armed = append(w.armed, f)
		w.wire.Arm(f)
	}
}

// hear counts commands down to a severing, and notes what is lost. At a hang the sender gives up:
// that the fault has fired, and is counted, decides when. What fires after the healing, because
// its connection was severed under it, is nobody's business any more.
func (w *wired) hear(e toxiproxy.Event) {
	switch {
	case e.Kind == toxiproxy.Held:
		w.arrived(e.Command)
	case e.Kind == toxiproxy.Opened:
		w.mu.Lock()
		defer w.mu.Unlock()
		w.pids = append(w.pids, e.PID)
	case e.Kind == toxiproxy.Fired:
		w.mu.Lock()
		defer w.mu.Unlock()
		if slices.Contains(w.armed, e.Fault) {
			w.lost(e)
		}
	case e.Kind == toxiproxy.Sent && !e.Command.Local():
		if s := w.due(e); s != nil {
			w.wire.Sever(s.close)
		}
	}
}

func (w *wired) lost(e toxiproxy.Event) {
	w.history.Note(w.called, "fault", fmt.Sprintf("%s: cut %s it, by %s",
		e.Command.Label(), e.Fault.At, e.Fault.Close))
	if e.Fault.Close == toxiproxy.Hang {
		w.hung = true
		w.giveUp()
	}
}

// due counts a command, and gives the severing whose turn it is.
func (w *wired) due(e toxiproxy.Event) (now *severing) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.severs {
		if s.left == 0 && now == nil {
			now = s
			now.fired = true
			w.history.Note(w.called, "fault", e.Command.Label()+": severed by "+s.close.String())
		}
		s.left--
	}
	return now
}

// severed ends what is left of its connections, and gives the pids of all that were.
func (w *wired) severed() []uint32 {
	w.wire.Sever(toxiproxy.FIN)
	w.mu.Lock()
	defer w.mu.Unlock()
	pids := w.pids
	w.pids, w.broken = nil, w.broken+max(0, len(pids)-1) // the one in use was missed at once
	return pids
}

// heal takes back what was never reached, and says how many faults were armed and how many fired.
// A byte that slipped through a cut is the wire's mistake, and an error.
func (w *wired) heal() (armed, fired int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.armed {
		w.wire.Disarm(f)
		fired += f.Fired()
		if f.Leaked() > 0 {
			err = fmt.Errorf("%d bytes slipped through a %s cut of %s", f.Leaked(), f.At, w.called)
		}
	}
	for _, s := range w.severs {
		if s.fired {
			fired++
		}
	}
	armed = len(w.armed) + len(w.severs)
	w.armed, w.severs = nil, nil
	return armed, fired, err
}

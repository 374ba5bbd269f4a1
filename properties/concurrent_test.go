package properties_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"webhooklab/lab"
	"webhooklab/properties"
)

// The same on two to four connections at once.
func TestConcurrentSequences(t *testing.T) {
	law := property{
		law:     "concurrent deliveries are answered as some one-by-one order would be",
		percent: 20,
		proof: func(drawn tally) string {
			if drawn.overlaps == 0 {
				return "no two deliveries ever overlapped"
			}
			return ""
		},
	}.begin(t)
	s := reference()
	senders := s.senders(t, 4)
	law.check(t, func(t *rapid.T) {
		drawn, sources := sequences(14).Draw(t, "sequence").fresh()
		n := rapid.IntRange(2, 4).Draw(t, "connections")
		found, err := s.together(t.Context(), senders[:n], drawn, sources)
		require.NoError(t, err)
		found.none(t, sources)
	})
}

// A sender hands deliveries to a receiver of its own.
type sender interface {
	name() string
	send(ctx context.Context, h *lab.History, d lab.Delivery) error
}

// direct is a sender whose receiver has the direct way to the database.
type direct struct {
	called   string
	receiver lab.Receiver
}

func (d direct) name() string { return d.called }

func (d direct) send(ctx context.Context, h *lab.History, delivery lab.Delivery) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	_, err := h.Record(d.called, d.receiver).Receive(ctx, delivery)
	return err
}

func (s subject) senders(t testing.TB, n int) []sender {
	all := make([]sender, n)
	for i := range all {
		all[i] = direct{fmt.Sprintf("sender_%d", i+1), s.open(t)}
	}
	return all
}

// together deals the deliveries out to the senders, who start at one barrier, and judges the
// history and what is left. No fault is about, so everybody must have an answer.
func (s subject) together(
	ctx context.Context, senders []sender, drawn sequence, sources []string,
) (found findings, err error) {
	if err := backfill(ctx, &properties.Model{}, drawn.backfills); err != nil {
		return nil, err
	}
	h := lab.NewHistory()
	for _, err := range dealOut(ctx, h, senders, drawn.deliveries) {
		found = append(found, finding{answered, err.Error()})
	}
	ground.drawn.hear(h.Operations())
	stored, f := s.history(ctx, "concurrent", h, drawn, sources)
	found = append(found, f...)
	if s.state.SQL("refusals") != "" {
		for _, text := range properties.RefusedOnce(h.Operations(), stored.Refusals, 0) {
			found = append(found, finding{refusedOnce, text})
		}
	}
	return found, nil
}

// dealOut gives each sender its share, in order, and returns when all have been through theirs.
func dealOut(
	ctx context.Context, h *lab.History, senders []sender, all []lab.Delivery,
) (failed []error) {
	barrier := make(chan struct{})
	var mu sync.Mutex
	var running sync.WaitGroup
	for i, s := range senders {
		running.Go(func() {
			<-barrier
			for at := i; at < len(all); at += len(senders) {
				if err := s.send(ctx, h, all[at]); err != nil {
					mu.Lock()
					failed = append(failed, fmt.Errorf("%s: %s: %w", s.name(), all[at], err))
					mu.Unlock()
				}
			}
		})
	}
	close(barrier)
	running.Wait()
	ground.drawn.overlaps += overlaps(h.Operations())
	return failed
}

// overlaps counts the pairs of operations of different sessions that were in progress at once.
func overlaps(ops []lab.Operation) (n int) {
	for i, a := range ops {
		for _, b := range ops[:i] {
			if a.Session != b.Session && a.Call < b.Return && b.Call < a.Return {
				n++
			}
		}
	}
	return n
}

// history demands the laws, and an order of the deliveries that explains answers and tables.
func (s subject) history(
	ctx context.Context, name string, h *lab.History, drawn sequence, sources []string,
) (properties.Stored, findings) {
	found := s.laws(ctx, sources, h.Operations())
	stored, f := s.stored(ctx, sources)
	found = append(found, f...)
	return stored, append(found, s.ordered(name, h, drawn, stored)...)
}

// ordered searches the history for an order; only the reference's is drawn if it has none.
func (s subject) ordered(
	name string, h *lab.History, drawn sequence, stored properties.Stored,
) (found findings) {
	l := properties.Linearizable{Before: before(drawn)}
	if ground.logs != "" && s.name == reference().name {
		l.Dir = filepath.Join(ground.logs, "histories")
	}
	for _, o := range l.Check(name, h, stored) {
		text := o.Text
		if o.Verdict == lab.VerdictUnknown {
			text = unknown + text
		}
		found = append(found, finding{linearizable, text})
	}
	return found
}

package properties_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"webhooklab/lab"
	"webhooklab/properties"
)

// Requests and acknowledgements are lost at any command while everybody delivers. Nothing wrong
// may be seen meanwhile. Then the network is whole again, every sender insists, and inbox and
// projection must be what the answers say.
func TestSequencesWithFaults(t *testing.T) {
	law := property{
		law:     "whatever the network loses, acked is stored, nothing is half done, all agrees",
		percent: 10,
		proof: func(drawn tally) string {
			if drawn.fired == 0 {
				return fmt.Sprintf("none of %d faults ever fired", drawn.armed)
			}
			return ""
		},
	}.begin(t)
	s := reference()
	senders := s.wiredSenders(t, 3)
	law.check(t, func(t *rapid.T) {
		drawn := faulty(len(senders)).Draw(t, "sequence")
		found, sources, err := s.throughFaults(t.Context(), senders, drawn)
		require.NoError(t, err)
		found.none(t, sources)
	})
}

// faultySequence is a sequence and the cuts on each sender's wire; as many senders as cuts.
type faultySequence struct {
	sequence
	cuts [][]cutPlan
}

func (s faultySequence) GoString() string {
	return fmt.Sprintf("%#v\n  cuts %#v", s.sequence, s.cuts)
}

func faulty(most int) *rapid.Generator[faultySequence] {
	return rapid.Custom(func(t *rapid.T) faultySequence {
		s := faultySequence{sequence: sequences(10).Draw(t, "sequence")}
		s.cuts = make([][]cutPlan, rapid.IntRange(1, most).Draw(t, "connections"))
		for i := range s.cuts {
			s.cuts[i] = drawCuts(t)
		}
		return s
	})
}

// throughFaults delivers with faults about, judges, heals, insists, and judges again.
func (s subject) throughFaults(
	ctx context.Context, all []*wired, faulty faultySequence,
) (found findings, sources []string, err error) {
	drawn, sources := faulty.fresh()
	if err := backfill(ctx, &properties.Model{}, drawn.backfills); err != nil {
		return nil, sources, err
	}
	h := lab.NewHistory()
	senders := make([]sender, len(faulty.cuts))
	for i, cuts := range faulty.cuts {
		all[i].arm(cuts)
		senders[i] = all[i]
	}
	dealOut(ctx, h, senders, drawn.deliveries)
	found = s.laws(ctx, sources, h.Operations())
	for i := range senders {
		armed, fired, err := all[i].heal()
		if err != nil {
			return nil, sources, err
		}
		ground.drawn.armed += armed
		ground.drawn.fired += fired
	}
	calm := len(h.Operations())
	found = append(found, insist(ctx, h, senders, drawn.deliveries)...)
	ground.drawn.hear(h.Operations())
	stored, f := s.history(ctx, "faults", h, drawn, sources)
	found = append(found, f...)
	if s.state.SQL("refusals") != "" {
		for _, text := range properties.RefusedOnce(h.Operations(), stored.Refusals, calm) {
			found = append(found, finding{refusedOnce, text})
		}
	}
	return found, sources, nil
}

// insist delivers everything again until it is answered. A connection that died in the pool costs
// one try each.
func insist(
	ctx context.Context, h *lab.History, senders []sender, all []lab.Delivery,
) (found findings) {
	const tries = 10
	for i, d := range all {
		var err error
		for range tries {
			if err = senders[i%len(senders)].send(ctx, h, d); err == nil {
				break
			}
		}
		if err != nil {
			found = append(found, finding{answeredAtLast,
				fmt.Sprintf("%s: no answer in %d tries without a fault: %v", d, tries, err)})
		}
	}
	return found
}

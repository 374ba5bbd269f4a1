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

// Revisions of several objects and sources come in any order and number, and conflicts and broken
// deliveries among them.
func TestShuffledSequences(t *testing.T) {
	law := property{
		law:     "every answer, and what is stored in the end, is the model's",
		percent: 26,
	}.begin(t)
	s := reference()
	r := s.open(t)
	law.check(t, func(t *rapid.T) {
		drawn, sources := sequences(12).Draw(t, "sequence").fresh()
		found, err := s.oneByOne(t.Context(), r, drawn, sources)
		require.NoError(t, err)
		found.none(t, sources)
	})
}

// oneByOne hands a sequence over and judges answers, tables and laws.
func (s subject) oneByOne(
	ctx context.Context, r lab.Receiver, drawn sequence, sources []string,
) (findings, error) {
	m := &properties.Model{}
	if err := backfill(ctx, m, drawn.backfills); err != nil {
		return nil, err
	}
	h := lab.NewHistory()
	found := decides(ctx, h.Record("sender", r), m, drawn.deliveries)
	ground.drawn.hear(h.Operations())
	after, f := s.after(ctx, m, sources, h.Operations())
	found = append(found, f...)
	return append(found, s.ordered("one_by_one", h, drawn, after)...), nil
}

// before is the model of what stands before the first delivery.
func before(drawn sequence) *properties.Model {
	m := &properties.Model{}
	for _, d := range drawn.backfills {
		// What the database took is of a sound shape.
		_ = m.Backfill(d.Source, d.ObjectID, d.Revision, d.Snapshot)
	}
	return m
}

// decides delivers one after the other and compares each answer with the model's.
func decides(
	ctx context.Context, r lab.Receiver, m *properties.Model, all []lab.Delivery,
) (found findings) {
	for i, d := range all {
		ctx, cancel := context.WithTimeout(ctx, bound)
		got, err := r.Receive(ctx, d)
		cancel()
		if err != nil {
			found = append(found, finding{answered, fmt.Sprintf("delivery %d, %s: %v", i, d, err)})
		}
		if want := m.Deliver(d); got != want {
			found = append(found, finding{modelDecides,
				fmt.Sprintf("delivery %d, %s, is answered %q, want %q", i, d, got, want)})
		}
	}
	return found
}

// after judges what is left: the laws in SQL, both tables against the model, the refusals.
func (s subject) after(
	ctx context.Context, m *properties.Model, sources []string, ops []lab.Operation,
) (properties.Stored, findings) {
	found := s.laws(ctx, sources, ops)
	stored, f := s.stored(ctx, sources)
	found = append(found, f...)
	if difference := m.Differs(stored); difference != "" {
		found = append(found, finding{modelHolds, difference})
	}
	if s.state.SQL("refusals") == "" {
		return stored, found
	}
	for _, text := range properties.RefusedOnce(ops, stored.Refusals, 0) {
		found = append(found, finding{refusedOnce, text})
	}
	return stored, found
}

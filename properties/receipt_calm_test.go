package properties_test

import (
	"context"
	"fmt"

	"webhooklab/lab"
)

// terminalAtLast: once faults stop, every receipt comes to an end within this many rounds of
// expiry, recovery, the end of backoffs, and work until there is none.
const (
	terminalAtLast = "terminal_at_last"
	mostRounds     = 2
)

// calm ends storms and faults, has everything delivered again until it is acknowledged, and works
// until nothing is left.
func (m *receiptMachine) calm(ctx context.Context) error {
	if err := m.move(ctx, act{what: "calm"}); err != nil {
		return err
	}
	for round := range mostRounds {
		if m.enough(m.findings) {
			return nil
		}
		if err := m.round(ctx); err != nil {
			return err
		}
		if m.worlds[0].model.Unfinished() == 0 {
			ground.drawn.rounds = max(ground.drawn.rounds, round+1)
			return nil
		}
	}
	m.findings = append(m.findings, finding{terminalAtLast, fmt.Sprintf(
		"%d receipts have not come to an end after %d rounds without a fault:\n%s",
		m.worlds[0].model.Unfinished(), mostRounds, m.worlds[0].model)})
	return nil
}

func (m *receiptMachine) round(ctx context.Context) error {
	for _, d := range m.handed(content) {
		if err := m.act(ctx, act{what: "deliver", who: actors, delivery: d}); err != nil {
			return err
		}
	}
	if m.atomic {
		return nil
	}
	for _, what := range []string{"expire", "recover", "due"} {
		if err := m.act(ctx, act{what: what, who: actors, all: what != "recover"}); err != nil {
			return err
		}
	}
	for range 2 * len(m.handed(event)) {
		if err := m.act(ctx, act{what: "work", who: actors}); err != nil {
			return err
		}
	}
	return nil
}

// handed is one of all deliveries so far that have the same name, in the order in which they came.
func (m *receiptMachine) handed(name func(lab.Delivery) string) (all []lab.Delivery) {
	seen := map[string]bool{}
	for _, op := range m.history.Operations() {
		d := op.Delivery
		d.Source = plain(d.Source, m.sources[0])
		if name := name(d); !seen[name] {
			seen[name] = true
			all = append(all, d)
		}
	}
	return all
}

func content(d lab.Delivery) string { return d.Source + " " + d.String() }
func event(d lab.Delivery) string   { return d.Source + " " + d.EventID }

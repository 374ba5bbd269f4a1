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

// One sender, and a network that now and then loses something: after each step the model must
// agree with everything that is stored.
func TestEveryStep(t *testing.T) {
	law := property{
		law:     "after every single step inbox, projection and laws agree with the model",
		percent: 5,
		proof: func(drawn tally) string {
			if drawn.fired == 0 {
				return fmt.Sprintf("none of %d faults ever fired", drawn.armed)
			}
			return ""
		},
	}.begin(t)
	s := reference()
	w := s.wiredSenders(t, 1)[0]
	require.NoError(t, setFlag("rapid.steps", 8))
	law.check(t, func(t *rapid.T) {
		truth := drawTruth(t)
		_, sources := sequence{}.fresh()
		m := &machine{subject: s, sender: w, sources: sources, history: lab.NewHistory()}
		t.Repeat(map[string]func(*rapid.T){
			"":        m.agrees,
			"deliver": func(t *rapid.T) { m.deliver(t, m.draw(t, truth)) },
			"retry":   m.retry,
			"lose":    func(t *rapid.T) { m.lose(t, m.draw(t, truth)) },
		})
		ground.drawn.hear(m.history.Operations())
	})
}

// machine is a receiver beside its model.
type machine struct {
	subject
	sender  *wired
	sources []string
	model   properties.Model
	history *lab.History
	last    *lab.Delivery
	broken  bool // a fault fired since the last answer
}

// draw gives a delivery of the machine's own sources.
func (m *machine) draw(t *rapid.T, truth []happened) lab.Delivery {
	d := drawDelivery(t, truth, 0)
	d.Source = m.sources[map[string]int{"shop": 0, "bank": 1}[d.Source]]
	return d
}

func (m *machine) retry(t *rapid.T) {
	if m.last == nil {
		t.Skip("nothing was delivered yet")
	}
	m.deliver(t, *m.last)
}

// lose delivers while one command is to be cut.
func (m *machine) lose(t *rapid.T, d lab.Delivery) {
	cuts := drawCuts(t)
	m.sender.arm(cuts)
	m.deliver(t, d)
}

// deliver hands over and compares. Without an answer, which only a fault excuses, the database is
// asked what became of it; and no fault outlives its delivery.
func (m *machine) deliver(t *rapid.T, d lab.Delivery) {
	m.last = &d
	err := m.sender.send(t.Context(), m.history, d)
	armed, fired, leak := m.sender.heal()
	require.NoError(t, leak)
	ground.drawn.armed += armed
	ground.drawn.fired += fired
	m.broken = m.broken || fired > 0
	ops := m.history.Operations()
	got := ops[len(ops)-1].Answer
	if err != nil && m.broken {
		m.resolve(t, d)
		return
	}
	m.broken = fired > 0 // what it left of the connection is met by the next delivery
	m.compare(t, d, m.model.Deliver(d), got, err)
}

// compare demands the model's answer.
func (m *machine) compare(t *rapid.T, d lab.Delivery, want, got lab.Answer, err error) {
	var found findings
	if err != nil {
		found = append(found, finding{answered,
			fmt.Sprintf("%s is left without an answer although nothing is lost: %v", d, err)})
	} else if want != got {
		found = append(found, finding{modelDecides,
			fmt.Sprintf("%s is answered %q, want %q", d, got, want)})
	}
	found.none(t, m.sources)
}

// resolve delivers once more what was lost, and so waits for whatever is still in progress of it.
// If it did take effect, it is a duplicate now; if not, it takes effect now. To the model both are
// one delivery.
func (m *machine) resolve(t *rapid.T, d lab.Delivery) {
	want := m.model.Deliver(d)
	var got lab.Answer
	var err error
	for range 10 { // each connection that died in the pool costs one
		if err = m.sender.send(t.Context(), m.history, d); err == nil {
			ops := m.history.Operations()
			got = ops[len(ops)-1].Answer
			break
		}
	}
	m.broken = false
	if got == lab.Duplicate && want.Acked {
		got = want
	}
	m.compare(t, d, want, got, err)
}

// agrees compares everything after a step.
func (m *machine) agrees(t *rapid.T) {
	found := m.laws(context.WithoutCancel(t.Context()), m.sources, m.history.Operations())
	stored, f := m.stored(t.Context(), m.sources)
	found = append(found, f...)
	if difference := m.model.Differs(stored); difference != "" {
		found = append(found, finding{modelHolds, difference})
	}
	found.none(t, m.sources)
}

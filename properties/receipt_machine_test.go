package properties_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"webhooklab/lab"
	"webhooklab/properties"
	"webhooklab/scenarios"
)

// A crew is what a script is played with: receivers with a wire each, and one without, for the
// time when all is well again.
type crew struct {
	*plot
	called  string // what it is, for the model
	atomic  bool
	actors  []*wired
	healthy *wired
}

// newCrew closes it with the test.
func newCrew(
	t testing.TB, suite scenarios.Suite, receiver lab.NewReceiver, alter string,
) *crew {
	t.Helper()
	p := newPlot(t, suite, alter)
	return &crew{
		plot:    p,
		atomic:  suite.Name == scenarios.AtomicSuite.Name,
		actors:  wiredTo(t, p.database.DSN(), receiver, "actor", actors),
		healthy: wiredTo(t, p.database.DSN(), receiver, "healthy", 1)[0],
	}
}

// A machine is one script under way: the receivers beside their model.
type receiptMachine struct {
	*crew
	suffix   string
	sources  []string
	model    *properties.ReceiptModel
	leases   []*properties.Lease // what each actor holds, to the last one the healthy
	history  *lab.History
	storms   bool
	told     []string // what happened, for whoever reads a failure
	missing  int      // deliveries that left no row
	deliver  map[string]lab.Delivery
	findings findings
	enough   func(findings) bool
}

// play plays a script and judges after every act; then faults and storms are over, and everything
// must come to an end. It stops when there are findings enough.
func (c *crew) play(ctx context.Context, s script, enough func(findings) bool) (findings, error) {
	if err := c.exec(ctx, c.suite.Reset); err != nil {
		return nil, err
	}
	m := &receiptMachine{crew: c, history: lab.NewHistory(), enough: enough,
		leases: make([]*properties.Lease, actors+1), deliver: map[string]lab.Delivery{}}
	m.suffix, m.sources = freshly(sourceNames())
	m.model = &properties.ReceiptModel{Atomic: c.atomic, MaxAttempts: 3, Says: m.says}
	for _, a := range s {
		if err := m.act(ctx, a); err != nil {
			return nil, err
		}
		if enough(m.findings) {
			return m.findings, nil
		}
	}
	return m.findings, m.calm(ctx)
}

// says is what scenarios.Change comes to.
func (m *receiptMachine) says(kind string) properties.Saying {
	switch {
	case kind == "order.unpayable":
		return properties.Rejects
	case kind == "order.viewed":
		return properties.Ignores
	case kind == "order.flaky" && m.storms:
		return properties.Fails
	}
	return properties.Changes
}

// act does one act of the script and judges what came of it.
func (m *receiptMachine) act(ctx context.Context, a act) error {
	if !m.possible(a) {
		return nil
	}
	if !a.calls() {
		return m.move(ctx, a)
	}
	var seen []observed
	var err error
	if a.beside != nil && m.possible(*a.beside) {
		seen, err = m.pair(ctx, a)
	} else {
		var o observed
		o, err = m.call(ctx, a)
		seen = []observed{o}
	}
	if err != nil {
		return err
	}
	return m.judge(ctx, seen)
}

// possible: a worker without a lease can't do anything with it.
func (m *receiptMachine) possible(a act) bool {
	switch a.what {
	case "complete", "fail", "release", "heartbeat":
		return m.leases[a.who] != nil
	}
	return true
}

// move is an act of the lab's own.
func (m *receiptMachine) move(ctx context.Context, a act) error {
	source, event := a.delivery.Source+m.suffix, a.delivery.EventID
	m.told = append(m.told, fmt.Sprintf("%s %s", a.what, event))
	switch a.what {
	case "die":
		m.leases[a.who] = nil
		return nil
	case "storm":
		m.storms = true
		return m.exec(ctx, `INSERT INTO weather SELECT unnest($1::text[])`, m.sources)
	case "calm":
		m.storms = false
		return m.exec(ctx, `DELETE FROM weather WHERE source = ANY ($1)`, m.sources)
	case "expire":
		m.model.Expire(source, event)
		return m.exec(ctx, `
UPDATE webhook_receipt SET lease_expires_at = clock_timestamp()
 WHERE source = $1 AND event_id = $2 AND status = 'processing'`, source, event)
	default:
		m.model.Due(source, event)
		return m.exec(ctx, `
UPDATE webhook_receipt SET next_attempt_at = clock_timestamp()
 WHERE source = $1 AND event_id = $2 AND next_attempt_at > clock_timestamp()`, source, event)
	}
}

func (m *receiptMachine) actor(i int) *wired {
	if i == actors {
		return m.healthy
	}
	return m.actors[i]
}

// observed is a call as its caller saw it.
type observed struct {
	act
	answer lab.Answer
	err    error
	fired  bool // a fault fired on its wire meanwhile
	broken bool // or it had connections that it did not know were dead
}

func (o observed) String() string {
	text := fmt.Sprintf("%#v: %s", o.act, o.answer)
	if o.err != nil {
		text += fmt.Sprintf(" (%v)", o.err)
	}
	return text
}

// call makes one call, with its cuts laid out.
func (m *receiptMachine) call(ctx context.Context, a act) (observed, error) {
	w := m.actor(a.who)
	w.arm(a.cuts)
	o := m.answered(ctx, a)
	return o, m.mend(ctx, w, &o)
}

// answered makes a call and hears the answer. A receiver that panics gave none.
func (m *receiptMachine) answered(ctx context.Context, a act) observed {
	w := m.actor(a.who)
	o := observed{act: a, broken: w.broken > 0}
	o.err = w.do(ctx, m.history, func(ctx context.Context) (err error) {
		defer func() {
			if reason := recover(); reason != nil {
				err = fmt.Errorf("the receiver panicked: %v", reason)
			}
		}()
		o.answer, err = m.ask(ctx, a)
		return err
	})
	if o.err != nil {
		o.answer = lab.Unknown
		w.broken = max(0, w.broken-1)
	}
	return o
}

// mend takes the faults back, and waits until the server has done with what they hit.
func (m *receiptMachine) mend(ctx context.Context, w *wired, o *observed) error {
	armed, fired, leak := w.heal()
	if leak != nil {
		return leak
	}
	ground.drawn.armed += armed
	ground.drawn.fired += fired
	o.fired = fired > 0
	if !o.fired {
		return nil
	}
	return m.bury(ctx, w)
}

// ask calls the receiver.
func (m *receiptMachine) ask(ctx context.Context, a act) (lab.Answer, error) {
	w := m.actor(a.who)
	d := a.delivery
	d.Source += m.suffix
	if a.what == "deliver" {
		return m.history.Record(w.called, w.receiver).Receive(ctx, d)
	}
	clerk, is := w.receiver.(scenarios.Clerk)
	if !is {
		return lab.Unknown, fmt.Errorf("%T does not %s", w.receiver, a.what)
	}
	switch a.what {
	case "work":
		return clerk.Work(ctx)
	case "claim":
		return clerk.Claim(ctx)
	case "complete":
		return clerk.Complete(ctx)
	case "fail":
		return clerk.Fail(ctx)
	case "release":
		return clerk.Release(ctx)
	case "heartbeat":
		return clerk.Heartbeat(ctx)
	case "recover":
		return clerk.Recover(ctx)
	default:
		return clerk.Requeue(ctx, d.Source, d.EventID)
	}
}

// judge looks for an order of the calls that explains what was answered and what is stored, and
// demands the laws.
func (m *receiptMachine) judge(ctx context.Context, seen []observed) error {
	for _, o := range seen {
		m.told = append(m.told, o.String())
	}
	stored, err := m.model.ReadReceipts(ctx, m.plot.judge, m.sources)
	if err != nil {
		return err
	}
	was := m.model
	if !m.explain(seen, stored.String()) {
		m.blame(was, seen, stored)
		m.model = stored
	}
	m.findings = append(m.findings, m.lawful(ctx, m.sources, m.history.Operations())...)
	m.findings = append(m.findings, m.addsUp(seen)...)
	return nil
}

// blame says what the calls should have come to, one after the other without a fault.
func (m *receiptMachine) blame(was *properties.ReceiptModel, seen []observed, stored fmt.Stringer) {
	should := was.Clone()
	var text strings.Builder
	law := modelHolds
	for _, o := range seen {
		first := m.outcomes(should, o, m.leases[o.who])[0]
		should = first.after
		fmt.Fprintf(&text, "%s, want %s\n", o, first.answer)
		if o.answer != first.answer {
			law = modelDecides
		}
	}
	fmt.Fprintf(&text, "stored\n%swant\n%s", stored, should)
	m.findings = append(m.findings, finding{law, text.String()})
}

// addsUp demands of the accounting that each delivery is told by exactly one row, or by none if
// the receiver was unavailable.
func (m *receiptMachine) addsUp(seen []observed) (f findings) {
	rows := 0
	for _, source := range m.sources {
		for _, n := range m.model.Counts(source) {
			rows += n
		}
	}
	handed := len(m.history.Operations())
	missing, faulty := handed-rows, 0
	for _, o := range seen {
		if o.what == "deliver" && (o.fired || o.err != nil) {
			faulty++
		}
	}
	if missing < m.missing || missing > m.missing+faulty {
		f = append(f, finding{accounted, fmt.Sprintf(
			"%d deliveries and %d rows for them: %d were missing before, and at most %d can be now",
			handed, rows, m.missing, m.missing+faulty)})
	}
	m.missing = missing
	return f
}

// accounted is the accounting over the deliveries of a run.
const accounted = "accounted"

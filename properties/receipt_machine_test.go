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
	worlds   []world // that agree with all that was seen
	history  *lab.History
	storms   bool
	missing  int // deliveries that left no row
	findings findings
	enough   func(findings) bool
}

// play plays a script and judges after every act; then faults and storms are over, and everything
// must come to an end. It stops when there are findings enough.
func (c *crew) play(ctx context.Context, s script, enough func(findings) bool) (findings, error) {
	m := &receiptMachine{crew: c, history: lab.NewHistory(), enough: enough}
	m.suffix, m.sources = freshly(sourceNames())
	m.worlds = []world{{model: &properties.ReceiptModel{
		Atomic: c.atomic, MaxAttempts: 3, Says: m.says,
	}}}
	err := c.exec(ctx, c.suite.Reset)
	for _, a := range s {
		if err == nil && !enough(m.findings) {
			err = m.act(ctx, a)
		}
	}
	if err == nil {
		err = m.calm(ctx)
	}
	ground.drawn.hear(m.history.Operations())
	return m.findings.plain(m.sources), err
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
	if !m.cast(&a) {
		return nil
	}
	if !a.calls() {
		return m.move(ctx, a)
	}
	if b := a.beside; b != nil && (!m.cast(b) || b.who == a.who) {
		a.beside = nil
	}
	seen, err := m.calls(ctx, a)
	if err != nil {
		return err
	}
	return m.judge(ctx, seen)
}

// cast gives the act to an actor who can do it, and most of the time a receipt that it fits:
// without a lease nobody can do anything with it.
func (m *receiptMachine) cast(a *act) bool {
	fits := ""
	switch a.what {
	case "complete", "fail", "release", "heartbeat", "die":
		return m.castHolder(a)
	case "expire", "bound":
		fits = "processing"
	case "requeue":
		fits = "dead"
	default:
		return true
	}
	for _, d := range m.handed(event) {
		if a.who > 0 && m.worlds[0].model.Status(d.Source+m.suffix, d.EventID) == fits {
			a.delivery = d
		}
	}
	return true
}

func (m *receiptMachine) castHolder(a *act) bool {
	for i := range actors {
		who := (a.who + i) % actors
		if m.worlds[0].leases[who] != nil {
			a.who = who
			return true
		}
	}
	return false
}

func (m *receiptMachine) calls(ctx context.Context, a act) ([]observed, error) {
	switch {
	case a.beside != nil:
		return m.pair(ctx, a)
	case a.all:
		return m.crowd(ctx, a)
	}
	o, err := m.call(ctx, a)
	return []observed{o}, err
}

// possible: a worker without a lease can't do anything with it.
func (m *receiptMachine) possible(a act) bool {
	switch a.what {
	case "complete", "fail", "release", "heartbeat":
		return m.worlds[0].leases[a.who] != nil
	}
	return true
}

// move is an act of the lab's own.
func (m *receiptMachine) move(ctx context.Context, a act) error {
	switch a.what {
	case "":
		return nil
	case "die":
		for i := range m.worlds {
			m.worlds[i].leases[a.who] = nil
		}
		return nil
	case "storm":
		m.storms = true
		return m.exec(ctx, `INSERT INTO weather SELECT unnest($1::text[])`, m.sources)
	case "calm":
		m.storms = false
		return m.exec(ctx, `DELETE FROM weather WHERE source = ANY ($1)`, m.sources)
	}
	events := []lab.Delivery{a.delivery}
	if a.all {
		events = m.handed(event)
	}
	for _, d := range events {
		if err := m.moveReceipt(ctx, a.what, d.Source+m.suffix, d.EventID); err != nil {
			return err
		}
	}
	return nil
}

// movesSQL end a lease, a backoff, or all attempts but the next, by the database's clock.
var movesSQL = map[string]string{
	"expire": `
UPDATE webhook_receipt SET lease_expires_at = clock_timestamp()
 WHERE source = $1 AND event_id = $2 AND status = 'processing'`,
	"due": `
UPDATE webhook_receipt SET next_attempt_at = clock_timestamp()
 WHERE source = $1 AND event_id = $2 AND next_attempt_at > clock_timestamp()`,
	"bound": `
UPDATE webhook_receipt SET max_attempts = attempts + (status <> 'processing')::int
 WHERE source = $1 AND event_id = $2 AND status IN ('pending', 'failed', 'processing')`,
}

func (m *receiptMachine) moveReceipt(ctx context.Context, what, source, event string) error {
	for _, w := range m.worlds {
		switch what {
		case "expire":
			w.model.Expire(source, event)
		case "due":
			w.model.Due(source, event)
		case "bound":
			w.model.Bound(source, event)
		}
	}
	return m.exec(ctx, movesSQL[what], source, event)
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
	fired  bool              // a fault fired on its wire meanwhile
	broken bool              // or it had connections that it did not know were dead
	change bool              // the weather changed meanwhile
	begun  *properties.Lease // what a worker has claimed whose work is half explained
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
		if o.what != "deliver" {
			ground.drawn.answers[o.what+": "+o.answer.Outcome]++
		}
	}
	stored, err := m.worlds[0].model.ReadReceipts(ctx, m.plot.judge, m.sources)
	if err != nil {
		return err
	}
	worlds := m.explain(seen, stored.String())
	if len(worlds) == 0 {
		m.blame(seen, stored)
		worlds = []world{{stored, m.worlds[0].leases}}
	}
	m.worlds = worlds
	m.findings = append(m.findings, m.lawful(ctx, m.sources, m.history.Operations())...)
	m.findings = append(m.findings, m.addsUp(seen)...)
	return nil
}

// blame says what the calls should have come to, one after the other without a fault.
func (m *receiptMachine) blame(seen []observed, stored fmt.Stringer) {
	should := m.worlds[0]
	var text strings.Builder
	law := modelHolds
	for _, o := range seen {
		first := m.soundly(should, o)
		if first.rest != nil {
			first = m.soundly(first.world, *first.rest)
		}
		should = first.world
		fmt.Fprintf(&text, "%s, want %s\n", o, first.answer)
		if o.answer != first.answer {
			law = modelDecides
		}
	}
	fmt.Fprintf(&text, "stored\n%swant\n%s", stored, should.model)
	m.findings = append(m.findings, finding{law, text.String()})
}

// addsUp demands of the accounting that each delivery is told by exactly one row, or by none if
// the receiver was unavailable.
func (m *receiptMachine) addsUp(seen []observed) (f findings) {
	rows := 0
	for _, source := range m.sources {
		for _, n := range m.worlds[0].model.Counts(source) {
			rows += n
		}
	}
	handed := len(m.history.Operations())
	missing, faulty := handed-rows, 0
	for _, o := range seen {
		if o.what == "deliver" && (o.fired || o.broken || o.err != nil) {
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

package properties_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"webhooklab/lab"
	"webhooklab/lab/inbox"
	"webhooklab/scenarios"
	"webhooklab/toxiproxy"
)

// Changes that commit or roll back, dispatchers that are cut anywhere, or paused before they send
// or mark until others have done it: at every step the laws hold, and at last all is sent.
func TestOutboxMachine(t *testing.T) {
	law := property{
		law:     "the outbox obeys every law at every step, and is sent once faults stop",
		percent: 2,
		proof:   faultsAndOverlaps,
	}.begin(t)
	c := newCrew(t, scenarios.OutboxSuite, scenarios.Outbox, "")
	law.check(t, func(t *rapid.T) {
		found, err := c.dispatch(t.Context(), outboxScripts().Draw(t, "script"), findings.any)
		require.NoError(t, err)
		found.none(t, sourceNames())
	})
}

func outboxScripts() *rapid.Generator[script] {
	whats := []string{
		"rest", "order", "order", "order", "cancel", "dispatch", "dispatch", "dispatch", "pause",
		"pause", "resume", "resume", "recover", "expire", "expire", "due", "due", "bound", "requeue",
	}
	acts := rapid.Custom(func(t *rapid.T) act {
		a := act{
			what: rapid.SampledFrom(whats).Draw(t, "what"),
			who:  rapid.IntRange(0, actors-1).Draw(t, "who"),
			hold: rapid.IntRange(0, 1).Draw(t, "hold"),
		}
		a.delivery = lab.Delivery{
			Source: "shop", EventID: fmt.Sprintf("evt_%d", rapid.IntRange(1, 4).Draw(t, "event")),
			Type: "order.paid", Payload: []byte(`{"order": 7}`),
		}
		if rapid.IntRange(0, 5).Draw(t, "other payload") == 5 {
			a.delivery.Payload = []byte(`{"order": 8}`)
		}
		if rapid.IntRange(0, 2).Draw(t, "cut") == 2 {
			a.cuts = []cutPlan{drawCut(t)}
			a.cuts[0].skip %= 5
		}
		return a
	})
	return rapid.Custom(func(t *rapid.T) script {
		return rapid.SliceOfN(acts, 10, 40).Draw(t, "acts")
	})
}

// An outboxRun is one script under way. Paused are the calls that are held.
type outboxRun struct {
	*crew
	source  string
	history *lab.History
	paused  [actors + 1]*pausedCall
	known   map[string]message
}

type pausedCall struct {
	command toxiproxy.Command
	ends    <-chan error
}

// message is what must not go back.
type message struct {
	status   string
	attempts int
}

func (m message) final() bool { return m.status == "sent" || m.status == "dead" }

// dispatch plays a script and judges after every act.
func (c *crew) dispatch(
	ctx context.Context, s script, enough func(findings) bool,
) (found findings, err error) {
	if err := c.exec(ctx, c.suite.Reset); err != nil {
		return nil, err
	}
	_, sources := freshly([]string{"shop"})
	r := &outboxRun{
		crew: c, source: sources[0], history: lab.NewHistory(), known: map[string]message{},
	}
	defer func() {
		err = errors.Join(err, r.resumeAll(ctx))
		found = found.plain(sources)
	}()
	for _, a := range s {
		if err := r.act(ctx, a); err != nil {
			return found, fmt.Errorf("%#v: %w", a, err)
		}
		if found = append(found, r.judge(ctx)...); enough(found) {
			return found, nil
		}
	}
	more, err := r.calm(ctx)
	return append(found, more...), err
}

func (r *outboxRun) act(ctx context.Context, a act) error {
	switch a.what {
	case "rest":
		return nil
	case "expire", "due", "bound":
		return r.exec(ctx, messagesSQL[a.what], r.source)
	case "requeue":
		err := inbox.RequeueMessage(ctx, r.plot.judge, r.source, a.delivery.EventID, "ann", "again")
		if err != nil && !errors.Is(err, inbox.ErrInvalid) {
			return err
		}
		delete(r.known, a.delivery.EventID) // dead no more
		return nil
	case "resume":
		return r.resume(ctx, a)
	}
	w := r.actors[a.who]
	if r.paused[a.who] != nil {
		return nil
	}
	if a.what == "pause" {
		return r.pause(ctx, a)
	}
	w.arm(a.cuts)
	_ = r.call(ctx, w, a) // nobody answers for an error but the laws
	return r.mend(ctx, w)
}

// messagesSQL end leases, backoffs, and all attempts but the one that is under way or the next.
var messagesSQL = map[string]string{
	"expire": `
UPDATE outbox_message SET lease_expires_at = clock_timestamp()
 WHERE topic = $1 AND status = 'processing'`,
	"due": `
UPDATE outbox_message SET next_attempt_at = clock_timestamp()
 WHERE topic = $1 AND next_attempt_at > clock_timestamp()`,
	"bound": `
UPDATE outbox_message SET max_attempts = attempts + (status <> 'processing')::int
 WHERE topic = $1 AND status IN ('pending', 'failed', 'processing')`,
}

// call makes one call and gives its error.
func (r *outboxRun) call(ctx context.Context, w *wired, a act) error {
	d := a.delivery
	d.Source = r.source
	switch a.what {
	case "cancel":
		d.Type = "order.cancelled"
		return w.send(ctx, r.history, d)
	case "order":
		return w.send(ctx, r.history, d)
	}
	return w.do(ctx, r.history, func(ctx context.Context) (err error) {
		poster, is := w.receiver.(scenarios.Poster)
		var answer lab.Answer
		switch {
		case !is:
			return fmt.Errorf("%T sends nothing", w.receiver)
		case a.what == "recover":
			answer, err = poster.Recover(ctx)
		default:
			answer, err = poster.Dispatch(ctx)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.said = answer.Outcome
		return err
	})
}

func (r *outboxRun) mend(ctx context.Context, w *wired) error {
	armed, fired, leak := w.heal()
	ground.drawn.armed += armed
	ground.drawn.fired += fired
	if w.said != "" {
		ground.drawn.answers[w.said]++
		w.said = ""
	}
	if leak != nil || fired == 0 {
		return leak
	}
	return r.bury(ctx, w)
}

// pause lets a dispatcher come to where it sends, or marks, and leaves it there.
func (r *outboxRun) pause(ctx context.Context, a act) error {
	w := r.actors[a.who]
	before := []string{"downstream_call", "sent_at = clock_timestamp()"}[a.hold]
	held := w.holdAt(0, func(c toxiproxy.Command) bool { return strings.Contains(c.SQL(), before) })
	ends := make(chan error, 1)
	go func() { ends <- r.call(ctx, w, a) }()
	select {
	case command := <-held:
		r.paused[a.who] = &pausedCall{command, ends}
		return nil
	case <-ends:
		w.wire.Gate(false)
		return r.mend(ctx, w)
	}
}

// resume lets it go on, or cuts it there.
func (r *outboxRun) resume(ctx context.Context, a act) error {
	call := r.paused[a.who]
	if call == nil {
		return nil
	}
	r.paused[a.who] = nil
	ground.drawn.overlaps++
	w := r.actors[a.who]
	if err := w.letGo(call.command, a.cuts); err != nil {
		return err
	}
	<-call.ends
	return r.mend(ctx, w)
}

func (r *outboxRun) resumeAll(ctx context.Context) error {
	var all []error
	for who := range actors {
		all = append(all, r.resume(ctx, act{who: who}))
	}
	return errors.Join(all...)
}

// The laws of the outbox that no single look can tell.
const neverBack = "never_back" // what was sent stays sent, and attempts never shrink

// judge demands the laws, and that no message goes back.
func (r *outboxRun) judge(ctx context.Context) (found findings) {
	found = r.lawful(ctx, []string{r.source}, r.history.Operations())
	rows, err := r.plot.judge.Query(ctx, `
SELECT key, status, attempts FROM outbox_message WHERE topic = $1`, r.source)
	var key string
	var now message
	if err == nil {
		_, err = pgx.ForEachRow(rows, []any{&key, &now.status, &now.attempts}, func() error {
			was := r.known[key]
			if now.attempts < was.attempts || was.final() && now != was {
				found = append(found, finding{neverBack, fmt.Sprintf("%s: %v, then %v", key, was, now)})
			}
			r.known[key] = now
			return nil
		})
	}
	if err != nil {
		found = append(found, finding{neverBack, unknown + err.Error()})
	}
	return found
}

// calm ends all faults, lets every dispatcher go on, and dispatches until nothing is left.
func (r *outboxRun) calm(ctx context.Context) (found findings, err error) {
	if err := r.resumeAll(ctx); err != nil {
		return nil, err
	}
	for round := range mostRounds {
		for _, what := range []string{"expire", "recover", "due"} {
			if what == "recover" {
				_ = r.call(ctx, r.healthy, act{what: what})
			} else if err := r.act(ctx, act{what: what}); err != nil {
				return found, err
			}
		}
		for range 2 * len(r.known) {
			_ = r.call(ctx, r.healthy, act{what: "dispatch"})
		}
		found = append(found, r.judge(ctx)...)
		if r.unfinished() == 0 {
			ground.drawn.rounds = max(ground.drawn.rounds, round+1)
			ground.drawn.hear(r.history.Operations())
			return found, nil
		}
	}
	return append(found, finding{terminalAtLast, fmt.Sprintf(
		"after %d rounds without a fault: %v", mostRounds, r.known)}), nil
}

func (r *outboxRun) unfinished() (n int) {
	for _, m := range r.known {
		if !m.final() && m.status != "rejected" {
			n++
		}
	}
	return n
}

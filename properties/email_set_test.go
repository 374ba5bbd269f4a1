package properties_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"webhooklab/lab"
	"webhooklab/properties"
	"webhooklab/scenarios"
)

// The same events, corrections and messages in two orders, with duplicates: one after the other,
// and on three connections at once that are cut. Both end where the set says, which knows no order.
func TestEmailSets(t *testing.T) {
	law := property{
		law:     "email states are those of the set of events, whatever the order, copies and faults",
		percent: 3,
		proof:   faultsAndOverlaps,
	}.begin(t)
	p := newPlot(t, scenarios.EmailSuite, "")
	one := wiredTo(t, p.database.DSN(), scenarios.Emails, "alone", 1)
	three := wiredTo(t, p.database.DSN(), scenarios.Emails, "actor", actors)
	law.check(t, func(t *rapid.T) {
		drawn := mailbags().Draw(t, "mail")
		found, err := p.post(t.Context(), one, drawn.first, make([][]cutPlan, 1))
		require.NoError(t, err)
		found.none(t, sourceNames())
		found, err = p.post(t.Context(), three, drawn.second, drawn.cuts)
		require.NoError(t, err)
		found.none(t, sourceNames())
	})
}

// mail is one thing that reaches a receiver of email events.
type mail struct {
	lab.Delivery        // of an event; its object names a message that is made known
	voids        string // of a correction
}

func (m mail) GoString() string {
	switch {
	case m.voids != "":
		return m.EventID + " voids " + m.voids
	case m.EventID == "":
		return "message " + m.ObjectID
	}
	return m.Delivery.String()
}

// mailbag is a set in two orders, each with duplicates of its own.
type mailbag struct {
	first, second []mail
	cuts          [][]cutPlan
}

func (b mailbag) GoString() string {
	return fmt.Sprintf("\n  alone %#v\n  at once %#v\n  cuts %#v", b.first, b.second, b.cuts)
}

func mailbags() *rapid.Generator[mailbag] {
	return rapid.Custom(func(t *rapid.T) mailbag {
		set := drawMails(t)
		b := mailbag{cuts: make([][]cutPlan, actors)}
		b.first, b.second = drawOrder(t, set), drawOrder(t, set)
		for i := range b.cuts {
			b.cuts[i] = drawCuts(t)
		}
		return b
	})
}

func drawOrder(t *rapid.T, set []mail) []mail {
	all := append([]mail(nil), set...)
	for range rapid.IntRange(0, len(set)).Draw(t, "duplicates") {
		all = append(all, rapid.SampledFrom(set).Draw(t, "duplicate"))
	}
	return rapid.Permutation(all).Draw(t, "order")
}

// drawMails draws events of two recipients, of whom not all are known, times that tie, and
// corrections, also of corrections and of what never comes.
func drawMails(t *rapid.T) []mail {
	objects := []string{"welcome ann@example.org", "welcome bob@example.org"}
	types := []string{
		"accepted", "processed", "deferred", "soft_bounce", "delivered", "bounced", "dropped",
		"complained", "opened", "clicked", "unsubscribed", "unheard_of",
	}
	var set []mail
	for _, object := range objects[:rapid.IntRange(1, 2).Draw(t, "messages")] {
		set = append(set, mail{Delivery: lab.Delivery{ObjectID: object}})
	}
	events := rapid.IntRange(1, 8).Draw(t, "events")
	for i := range events {
		set = append(set, mail{Delivery: lab.Delivery{
			EventID: fmt.Sprintf("evt_%d", i), ObjectID: rapid.SampledFrom(objects).Draw(t, "object"),
			Type: rapid.SampledFrom(types).Draw(t, "type"),
			Payload: fmt.Appendf(nil, `{"at": "2026-01-01T00:00:0%dZ"}`,
				rapid.IntRange(0, 2).Draw(t, "second")),
		}})
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "corrections") {
		voids := fmt.Sprintf("evt_%d", rapid.IntRange(0, events).Draw(t, "voided"))
		if i > 0 && rapid.IntRange(0, 3).Draw(t, "a correction") == 3 {
			voids = "fix_0"
		}
		set = append(set, mail{Delivery: lab.Delivery{EventID: fmt.Sprintf("fix_%d", i)}, voids: voids})
	}
	return set
}

// post hands everything over while the cuts are laid out, judges, has it handed over again until
// it is acknowledged, and judges by the set as well.
func (p *plot) post(
	ctx context.Context, senders []*wired, order []mail, cuts [][]cutPlan,
) (found findings, err error) {
	_, sources := freshly([]string{"mail"})
	h := lab.NewHistory()
	var running sync.WaitGroup
	lost := make([][]mail, len(senders))
	for i, w := range senders {
		w.arm(cuts[i])
		running.Go(func() {
			for at := i; at < len(order); at += len(senders) {
				if m := order[at]; w.mail(ctx, h, sources[0], m) != nil {
					lost[i] = append(lost[i], m)
				}
			}
		})
	}
	running.Wait()
	ground.drawn.overlaps += overlaps(h.Operations())
	for _, w := range senders {
		armed, fired, leak := w.heal()
		err = errors.Join(err, leak)
		if fired > 0 {
			err = errors.Join(err, p.bury(ctx, w))
		}
		ground.drawn.armed += armed
		ground.drawn.fired += fired
	}
	if err != nil {
		return nil, err
	}
	found = p.lawful(ctx, sources, h.Operations())
	for i, w := range senders {
		found = append(found, w.insist(ctx, h, sources[0], lost[i])...)
	}
	ground.drawn.hear(h.Operations())
	found = append(found, p.lawful(ctx, sources, h.Operations())...)
	found = append(found, p.isTheSet(ctx, sources[0], order)...)
	return found.plain(sources), nil
}

// insist hands over what was not answered, now that nothing is lost any more. A connection that
// died in the pool costs one try.
func (w *wired) insist(
	ctx context.Context, h *lab.History, source string, all []mail,
) (found findings) {
	for _, m := range all {
		var err error
		for range 10 {
			if err = w.mail(ctx, h, source, m); err == nil {
				break
			}
		}
		if err != nil {
			found = append(found, finding{answeredAtLast, fmt.Sprintf("%#v: %v", m, err)})
		}
	}
	return found
}

// isTheSet compares what is stored with what the set of all mail comes to.
func (p *plot) isTheSet(ctx context.Context, source string, all []mail) findings {
	var set properties.EmailSet
	for _, m := range all {
		switch {
		case m.voids != "":
			set.Correction(m.EventID, m.voids)
		case m.EventID == "":
			set.Message(m.ObjectID)
		default:
			set.Event(m.Delivery)
		}
	}
	stored, err := properties.ReadEmails(ctx, p.judge, p.suite.State, source)
	if err != nil {
		return findings{{modelHolds, unknown + err.Error()}}
	}
	if want := set.String(); stored != want {
		return findings{{modelHolds, fmt.Sprintf("stored\n%s\nwant\n%s", stored, want)}}
	}
	return nil
}

// mail hands one mail over.
func (w *wired) mail(ctx context.Context, h *lab.History, source string, m mail) error {
	m.Source = source
	if m.voids == "" && m.EventID != "" {
		return w.send(ctx, h, m.Delivery)
	}
	return w.do(ctx, h, func(ctx context.Context) (err error) {
		mailer, is := w.receiver.(scenarios.Mailer)
		switch {
		case !is:
			err = fmt.Errorf("%T receives no email events", w.receiver)
		case m.voids != "":
			_, err = mailer.Correct(ctx, source, m.EventID, m.voids)
		default:
			message, recipient, _ := strings.Cut(m.ObjectID, " ")
			_, err = mailer.AddMessage(ctx, source, message, recipient)
		}
		return err
	})
}

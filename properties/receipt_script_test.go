package properties_test

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"webhooklab/lab"
)

// An act is one thing that happens to receipts: somebody calls a receiver, or the lab moves the
// weather or a time. What can't be done at its turn is left out.
type act struct {
	what     string
	who      int          // which actor
	delivery lab.Delivery // what is delivered; or names the receipt
	cuts     []cutPlan    // on the actor's wire meanwhile

	// beside is what another does while this act is held before one of its commands, which is
	// then let go, or cut. It may have to wait for that.
	beside *act
	hold   int
}

// GoString is how rapid shows it.
func (a act) GoString() string {
	text := fmt.Sprintf("actor_%d: %s %s", a.who+1, a.what, a.delivery.EventID)
	if a.what == "deliver" {
		text = fmt.Sprintf("actor_%d: deliver %s %s", a.who+1, a.delivery.Source, a.delivery)
	}
	if a.beside != nil {
		text += fmt.Sprintf(", held before command %d beside %#v", a.hold+1, *a.beside)
	}
	if len(a.cuts) > 0 {
		text += fmt.Sprintf(", %#v", a.cuts[0])
	}
	return text
}

// script is what happens, in order.
type script []act

// GoString is how rapid shows it: one line an act.
func (s script) GoString() string {
	var b strings.Builder
	for _, a := range s {
		fmt.Fprintf(&b, "\n  %#v", a)
	}
	return b.String()
}

const actors = 3

// scripts draws up to length acts out of these, which stand as often as they are likely.
func scripts(length int, whats []string) *rapid.Generator[script] {
	return rapid.Custom(func(t *rapid.T) script {
		events := drawEvents(t)
		acts := rapid.Custom(func(t *rapid.T) act { return drawAct(t, whats, events) })
		return rapid.SliceOfN(acts, 1, length).Draw(t, "acts")
	})
}

// drawEvents are what providers mean; a manner of delivering may make something else of them.
func drawEvents(t *rapid.T) []lab.Delivery {
	kinds := []string{"order.paid", "order.flaky", "order.flaky", "order.viewed", "order.unpayable"}
	events := []lab.Delivery{{Source: "shop", EventID: "evt_1"}, {Source: "shop", EventID: "evt_2"},
		{Source: "bank", EventID: "evt_1"}, {Source: "shop", EventID: "evt_3"}}
	for i := range events {
		events[i].Type = rapid.SampledFrom(kinds).Draw(t, "kind")
		events[i].Payload = []byte(`{"order": 7}`)
	}
	return events[:rapid.IntRange(1, len(events)).Draw(t, "events")]
}

func drawAct(t *rapid.T, whats []string, events []lab.Delivery) act {
	a := act{
		what:     rapid.SampledFrom(whats).Draw(t, "what"),
		who:      rapid.IntRange(0, actors-1).Draw(t, "who"),
		delivery: rapid.SampledFrom(events).Draw(t, "event"),
	}
	if a.what == "deliver" {
		a.delivery = drawManner(t, a.delivery)
	}
	if !a.calls() {
		return a
	}
	if rapid.IntRange(0, 3).Draw(t, "cut") == 3 {
		a.cuts = []cutPlan{drawCut(t)}
	}
	if a.what != "work" && rapid.IntRange(0, 4).Draw(t, "beside") == 4 {
		b := drawAct(t, whats, events)
		b.cuts, b.beside = nil, nil
		if b.calls() && b.what != "work" && b.who != a.who {
			a.beside, a.hold = &b, rapid.IntRange(0, 4).Draw(t, "hold")
		}
	}
	return a
}

// calls tells acts that call a receiver from those of the lab.
func (a act) calls() bool {
	switch a.what {
	case "expire", "due", "storm", "calm", "die":
		return false
	}
	return true
}

// drawManner hands an event over as it is more often than not.
func drawManner(t *rapid.T, d lab.Delivery) lab.Delivery {
	manner := rapid.SampledFrom([]string{
		"as it is", "as it is", "as it is", "as it is", "as it is", "as it is",
		"written otherwise", "other payload", "other type", "invalid",
	}).Draw(t, "manner")
	switch manner {
	case "written otherwise":
		d.Payload = []byte(` { "order" : 7.0 }`)
	case "other payload":
		d.Payload = []byte(`{"order": 8}`)
	case "other type":
		d.Type = "order.viewed"
	case "invalid":
		broken := []string{`{`, ``, `{"order": NaN}`, "{\"order\": \"\xff\"}", `{"order": "\u0000"}`}
		d.Payload = []byte(rapid.SampledFrom(broken).Draw(t, "payload"))
	}
	return d
}

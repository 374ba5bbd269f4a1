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
	who      int          // which actor, of those who can
	delivery lab.Delivery // what is delivered; or names the receipt
	cuts     []cutPlan    // on the actor's wire meanwhile

	// all: every actor does it at the same time.
	all bool
	// beside is what another does while this act is held before one of its commands, which is
	// then let go, or cut. It may have to wait for that. The weather may change first.
	beside  *act
	hold    int
	weather string // "", storm or calm
}

// GoString is how rapid shows it.
func (a act) GoString() string {
	text := fmt.Sprintf("actor_%d: %s %s", a.who+1, a.what, a.delivery.EventID)
	if a.what == "deliver" {
		text = fmt.Sprintf("actor_%d: deliver %s %s", a.who+1, a.delivery.Source, a.delivery)
	}
	if a.all {
		text = "all like " + text
	}
	if a.beside != nil {
		text += fmt.Sprintf(", held before command %d; meanwhile %s %#v", a.hold+1,
			a.weather, *a.beside)
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

// scripts draws about twenty acts out of these, which stand as often as they are likely. The first
// of them does no harm: what isn't needed for a failure shrinks to it.
func scripts(whats []string) *rapid.Generator[script] {
	return rapid.Custom(func(t *rapid.T) script {
		events := drawEvents(t)
		acts := rapid.Custom(func(t *rapid.T) act { return drawAct(t, whats, events) })
		return rapid.SliceOfN(acts, 10, 40).Draw(t, "acts")
	})
}

// drawEvents are what providers mean; a manner of delivering may make something else of them.
func drawEvents(t *rapid.T) []lab.Delivery {
	kinds := []string{"order.paid", "order.flaky", "order.flaky", "order.viewed", "order.unpayable"}
	events := make([]lab.Delivery, rapid.IntRange(2, 6).Draw(t, "events"))
	for i := range events {
		events[i] = lab.Delivery{
			Source: sourceNames()[i%2], EventID: fmt.Sprintf("evt_%d", i/2+1),
			Type:    rapid.SampledFrom(kinds).Draw(t, "kind"),
			Payload: []byte(`{"order": 7}`),
		}
	}
	return events
}

func drawAct(t *rapid.T, whats []string, events []lab.Delivery) act {
	a := act{
		what:     rapid.SampledFrom(whats).Draw(t, "what"),
		who:      rapid.IntRange(0, actors-1).Draw(t, "who"),
		delivery: rapid.SampledFrom(events).Draw(t, "event"),
	}
	switch a.what {
	case "deliver":
		a.delivery = drawManner(t, a.delivery)
	case "expire", "due":
		a.all = rapid.Bool().Draw(t, "all")
	}
	if !a.calls() {
		return a
	}
	if rapid.IntRange(0, 3).Draw(t, "cut") == 3 {
		a.cuts = []cutPlan{drawCut(t)}
		a.cuts[0].skip %= 4 // hardly a call has more commands
	}
	switch rapid.SampledFrom([]string{"alone", "alone", "beside", "all"}).Draw(t, "company") {
	case "beside":
		drawBeside(t, &a, whats, events)
	case "all":
		a.all = a.what == "deliver" || a.what == "work" || a.what == "claim" || a.what == "recover"
	}
	return a
}

// drawBeside leaves an act alone if what is drawn can't be beside it.
func drawBeside(t *rapid.T, a *act, whats []string, events []lab.Delivery) {
	b := drawAct(t, whats, events)
	b.cuts, b.beside, b.all = nil, nil, false
	if !b.calls() || a.who == b.who {
		return
	}
	a.beside = &b
	a.hold = rapid.IntRange(0, 4).Draw(t, "hold")
	a.weather = rapid.SampledFrom([]string{"", "", "calm", "storm"}).Draw(t, "weather")
}

// calls tells acts that call a receiver from those of the lab.
func (a act) calls() bool {
	switch a.what {
	case "expire", "due", "bound", "storm", "calm", "die":
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

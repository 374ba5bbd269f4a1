package properties_test

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"pgregory.net/rapid"

	"webhooklab/lab"
)

// sequence is what senders hand over, in order, and the objects that were filled beforehand.
type sequence struct {
	backfills  []lab.Delivery
	deliveries []lab.Delivery
}

// GoString is how rapid shows it: one line a delivery.
func (s sequence) GoString() string {
	var b strings.Builder
	for _, d := range s.backfills {
		fmt.Fprintf(&b, "\n  backfill %s %s", d.Source, d)
	}
	for _, d := range s.deliveries {
		fmt.Fprintf(&b, "\n  deliver  %s %s", d.Source, d)
	}
	return b.String()
}

// sourceNames are the tenants; they count their events from one, each for itself.
func sourceNames() []string { return []string{"shop", "bank"} }

// runs numbers what was drawn, so that each sequence has sources of its own in one database.
var runs atomic.Uint64

// fresh gives the sequence sources that nobody used before, and lists them.
func (s sequence) fresh() (sequence, []string) {
	suffix := "~drawn" + strconv.FormatUint(runs.Add(1), 36) + "~"
	rename := func(all []lab.Delivery) []lab.Delivery {
		renamed := make([]lab.Delivery, len(all))
		for i, d := range all {
			renamed[i] = d
			renamed[i].Source += suffix
		}
		return renamed
	}
	var sources []string
	for _, name := range sourceNames() {
		sources = append(sources, name+suffix)
	}
	return sequence{rename(s.backfills), rename(s.deliveries)}, sources
}

// plain takes the run's number out of a text, so that a failure reads the same when repeated.
func plain(text, source string) string {
	_, suffix, _ := strings.Cut(source, "~")
	return strings.ReplaceAll(text, "~"+suffix, "")
}

// sequences draws up to length deliveries: events of a few objects, in any order and number, and
// among them whatever a broken sender does.
func sequences(length int) *rapid.Generator[sequence] {
	return rapid.Custom(func(t *rapid.T) sequence {
		var s sequence
		truth := drawTruth(t)
		if rapid.IntRange(0, 3).Draw(t, "backfill") == 0 {
			d := lab.Delivery{
				Source: truth[0].delivery.Source, ObjectID: truth[0].delivery.ObjectID,
				Revision: rapid.Int64Range(1, 5).Draw(t, "backfilled revision"),
				Snapshot: []byte(`{"backfill": true}`),
			}
			s.backfills = append(s.backfills, d)
		}
		for i := range rapid.IntRange(1, length).Draw(t, "length") {
			s.deliveries = append(s.deliveries, drawDelivery(t, truth, i))
		}
		return s
	})
}

// happened is an event as its provider means it: every revision belongs to one event.
type happened struct {
	delivery lab.Delivery
	snapshot node
}

func drawTruth(t *rapid.T) (truth []happened) {
	taken := map[string]bool{}
	counted := map[string]int{}
	for range rapid.IntRange(1, 6).Draw(t, "events") {
		d := lab.Delivery{
			Source:   rapid.SampledFrom(sourceNames()).Draw(t, "source"),
			ObjectID: rapid.SampledFrom([]string{"order", "user"}).Draw(t, "object"),
			Revision: rapid.Int64Range(1, 5).Draw(t, "revision"),
		}
		place := fmt.Sprint(d.Source, d.ObjectID, d.Revision)
		if taken[place] {
			continue
		}
		taken[place] = true
		counted[d.Source]++
		d.EventID = fmt.Sprintf("evt_%d", counted[d.Source])
		snapshot := drawSnapshot(t, d.Revision)
		d.Snapshot = []byte(snapshot.plain())
		truth = append(truth, happened{d, snapshot})
	}
	return truth
}

// drawSnapshot is a small state most of the time, and any object now and then.
func drawSnapshot(t *rapid.T, revision int64) node {
	if rapid.IntRange(0, 7).Draw(t, "any snapshot") == 7 {
		return drawObject(t, "snapshot")
	}
	total := number{digits: strconv.FormatInt(revision, 10)}
	return node{kind: object, fields: []field{{"total", node{kind: numeral, number: total}}}}
}

// drawDelivery hands over one of the events, as it is more often than not.
func drawDelivery(t *rapid.T, truth []happened, place int) lab.Delivery {
	e := rapid.SampledFrom(truth).Draw(t, "event")
	d := e.delivery
	switch rapid.SampledFrom(manners()).Draw(t, "manner") {
	case "rewritten":
		d.Snapshot = []byte(e.snapshot.spell(t))
	case "other snapshot":
		d.Snapshot = []byte(e.snapshot.change(t).plain())
	case "other revision":
		d.Revision = rapid.Int64Range(1, 6).Draw(t, "other revision")
	case "other object":
		d.ObjectID = rapid.SampledFrom([]string{"order", "user"}).Draw(t, "other object")
	case "second id":
		d.EventID = fmt.Sprintf("evt_second_%d", place%3)
	case "second id and snapshot":
		d.EventID = fmt.Sprintf("evt_second_%d", place%3)
		d.Snapshot = []byte(e.snapshot.change(t).plain())
	case "swapped id":
		d.EventID = rapid.SampledFrom(truth).Draw(t, "other event").delivery.EventID
	case "invalid":
		return drawInvalid(t, d)
	}
	return d
}

func manners() []string {
	return []string{
		"as it is", "as it is", "as it is", "as it is", "as it is", "as it is", "as it is",
		"rewritten", "other snapshot", "other revision", "other object", "second id",
		"second id and snapshot", "swapped id", "invalid",
	}
}

// breach is one way to break a shape.
type breach struct {
	name string
	do   func()
}

func (b breach) GoString() string { return b.name }

// drawInvalid breaks the shape of a delivery in one place.
func drawInvalid(t *rapid.T, d lab.Delivery) lab.Delivery {
	snapshot := func(text string) breach {
		return breach{text[:min(20, len(text))], func() { d.Snapshot = []byte(text) }}
	}
	deep := strings.Repeat(`{"a":`, 513) + "1" + strings.Repeat("}", 513)
	breaches := []breach{
		{"no event id", func() { d.EventID = "" }},
		{"long event id", func() { d.EventID = strings.Repeat("e", 1025) }},
		{"NUL in the event id", func() { d.EventID += "\x00" }},
		{"event id not UTF-8", func() { d.EventID += "\xff" }},
		{"no object id", func() { d.ObjectID = "" }},
		{"long object id", func() { d.ObjectID = strings.Repeat("é", 513) }},
		{"revision 0", func() { d.Revision = 0 }},
		{"revision below 0", func() { d.Revision = -d.Revision }},
		snapshot(``), snapshot(`[]`), snapshot(`7`), snapshot(`{`), snapshot(`{"a": 1} {}`),
		snapshot(`{"a": NaN}`), snapshot(`{"a": 1e131072}`), snapshot(`{"a": 1e-16384}`),
		snapshot(`{"a": "\u0000"}`), snapshot(`{"\ud800": 1}`), snapshot("{\"a\": \"\xff\"}"),
		snapshot(deep),
	}
	b := rapid.SampledFrom(breaches).Draw(t, "breach")
	b.do()
	return d
}

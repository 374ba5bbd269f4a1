package scenarios

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"webhooklab/lab"
	"webhooklab/properties"
)

// Drawn sequences are what senders, workers and time do one after the other, drawn from a seed. The
// sequential models of package properties know each answer, and the laws hold in the end. They need
// no test's harness: the matrix plays them as scenarios.

// modelled is the law of the answers.
const modelled = "one after the other, every answer is the model's"

// mostDrawn is how many things happen in one sequence.
const mostDrawn = 10

// Drawn is the nth sequence that this seed draws for a suite.
func Drawn(suite Suite, seed uint64, n int) lab.Scenario {
	return lab.Scenario{
		Name: fmt.Sprintf("drawn_%s_%d_%d", suite.Name, seed, n), Law: modelled,
		Reference: suite.Name != SnapshotSuite.Name && suite.Name != DoorSuite.Name,
		Play: func(l *lab.Lab) {
			d := &draw{Lab: l, Rand: rand.New(rand.NewPCG(seed, uint64(n)))}
			drawing[suite.Name](d)
			l.Same("answers", "as the model has them", d.differs())
		},
	}
}

// drawing is how each suite's sequences are drawn and played, by its name.
var drawing = map[string]func(*draw){
	"snapshots": (*draw).snapshots,
	"email":     (*draw).emails,
	"atomic":    (*draw).atomic,
	"leased":    (*draw).leased,
	"outbox":    (*draw).outbox,
	"door":      (*draw).door,
}

// A draw is one sequence under way.
type draw struct {
	*lab.Lab
	*rand.Rand
	differences []string
	refused     map[string]bool // refusals that were answered, each told apart
}

func one[T any](d *draw, of ...T) T { return of[d.IntN(len(of))] }

// expects notes an answer that is not the model's, and goes on: what comes of it breaks laws too.
func (d *draw) expects(what string, want lab.Answer, got lab.Answer) {
	if want.Outcome != got.Outcome {
		d.differences = append(d.differences,
			fmt.Sprintf("%s is answered %q, not %q", what, got.Outcome, want.Outcome))
	}
}

func (d *draw) differs() string {
	if d.differences == nil {
		return "as the model has them"
	}
	return strings.Join(d.differences[:min(3, len(d.differences))], "; ")
}

// snapshots delivers a few events in any order and number, and whatever a broken sender makes of
// them. Now and then an object stands somewhere before its first event comes.
func (d *draw) snapshots() {
	m := &properties.Model{}
	truth := d.truth()
	if revision := d.Int64N(12); revision > 0 && revision < 5 {
		e := truth[0]
		d.expects("the backfill", lab.Done, d.backfills(m, e, revision))
	}
	d.refused = map[string]bool{}
	for range 2 + d.IntN(mostDrawn-1) {
		e := d.delivery(truth)
		d.delivers(e, m.Deliver(e))
	}
	d.Refused(len(d.refused))
}

func (d *draw) backfills(m *properties.Model, e lab.Delivery, revision int64) lab.Answer {
	const snapshot = `{"backfill": true}`
	d.Quietly(`
INSERT INTO object_state (source, object_id, revision, snapshot)
VALUES ($1, $2, $3, $4)`, d.Source(e.Source), e.ObjectID, revision, snapshot)
	if err := m.Backfill(e.Source, e.ObjectID, revision, []byte(snapshot)); err != nil {
		return lab.Unknown
	}
	return lab.Done
}

// door is the same behind HTTP, where conflicts are 409 and broken shapes 400 and the like.
func (d *draw) door() {
	m := &properties.Model{}
	truth := d.truth()
	for range 2 + d.IntN(mostDrawn/2) {
		e := d.delivery(truth)
		want := m.Deliver(e)
		switch want {
		case lab.ReusedEventID, lab.ReusedRevision:
			want = lab.Answer{Outcome: "409"}
		case lab.Invalid:
			continue
		}
		d.delivers(e, want)
	}
}

func (d *draw) delivers(e lab.Delivery, want lab.Answer) {
	got := d.Session("sender").Send(e)
	d.expects(fmt.Sprintf("%s %.60s", e.Source, e), want, got)
	if !want.Acked && d.refused != nil {
		d.refused[fmt.Sprint(want.Outcome, e.Source, e.EventID, e.ObjectID, e.Revision,
			string(e.Snapshot))] = true
	}
}

// truth is what providers mean: each revision of an object belongs to one event of its own id, and
// two sources count alike.
func (d *draw) truth() (all []lab.Delivery) {
	taken, counted := map[string]bool{}, map[string]int{}
	prefix := one(d, "evt_", "evt_", "evt_", strings.Repeat("e", 300)+"_")
	for range 2 + d.IntN(5) {
		e := lab.Delivery{
			Source: one(d, "shop", "bank"), ObjectID: one(d, "order", "order", "invoice"),
			Revision: 1 + d.Int64N(5),
			Snapshot: []byte(one(d, `{"total": 10}`, `{"total": 9007199254740993, "open": true}`)),
		}
		place := fmt.Sprint(e.Source, e.ObjectID, e.Revision)
		if !taken[place] {
			taken[place] = true
			counted[e.Source]++
			e.EventID = prefix + strconv.Itoa(counted[e.Source])
			all = append(all, e)
		}
	}
	return all
}

// otherwise are ways to write the two snapshots of truth; lookAlikes are contents that only look
// like them.
var otherwise = map[string][]string{
	`{"total": 10}`: {`{"total":1e1}`, ` {"total": 10.0}`},
	`{"total": 9007199254740993, "open": true}`: {
		`{"open":true,"total":9007199254740993}`, `{"\u006fpen": true, "total": 9007199254740993.0}`},
}

var lookAlikes = map[string][]string{
	`{"total": 10}`: {`{"total": "10"}`, `{"total": 11}`},
	`{"total": 9007199254740993, "open": true}`: {
		`{"total": 9007199254740992, "open": true}`, `{"total": 9007199254740993, "open": 1}`},
}

// delivery hands one of the events over, more often than not as it is.
func (d *draw) delivery(truth []lab.Delivery) lab.Delivery {
	e := one(d, truth...)
	switch d.IntN(14) {
	case 0:
		e.Snapshot = []byte(one(d, otherwise[string(e.Snapshot)]...))
	case 1:
		e.Snapshot = []byte(one(d, lookAlikes[string(e.Snapshot)]...))
	case 2:
		e.Revision = 1 + d.Int64N(6)
	case 3:
		e.ObjectID = one(d, "order", "invoice")
	case 4:
		e.EventID += "_again"
	case 5:
		e.EventID = one(d, truth...).EventID
	case 6:
		e = d.broken(e)
	}
	return e
}

// broken breaks the shape in one place.
func (d *draw) broken(e lab.Delivery) lab.Delivery {
	switch d.IntN(4) {
	case 0:
		e.EventID = one(d, "", strings.Repeat("e", 1025), e.EventID+"\x00", e.EventID+"\xff")
	case 1:
		e.ObjectID = one(d, "", strings.Repeat("é", 513))
	case 2:
		e.Revision = one(d, 0, -e.Revision)
	case 3:
		e.Snapshot = []byte(one(d, ``, `[]`, `{`, `{"a": NaN}`, `{"a": "\u0000"}`, `{"a": 1} {}`,
			"{\"a\": \"\xff\"}", `{"a": 1e131072}`))
	}
	return e
}
